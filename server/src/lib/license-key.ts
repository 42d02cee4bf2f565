/**
 * A license key in the service's own format: `PREFIX-XXXXX-XXXXX-XXXXX-XXXXX-XXXXX`. The 25 symbols are 23 random ones
 * (115 bits) and two check symbols, the number written by the 23 modulo 1021. That modulus is the largest prime that
 * fits in two symbols: it detects every single wrong symbol and every swap of two neighbours. The prefix shows people
 * the vendor of the key and is not part of the checksum, so that a vendor may change it and old keys stay valid.
 */
const RANDOM_SYMBOLS = 23;
const CHECK_MODULUS = 1021;
const SYMBOLS = 25;
const GROUP_SYMBOLS = 5;

/** The longest text that is examined; a longer one is unknown without further work. */
export const MAX_LICENSE_KEY_CHARACTERS = 512;

/** A valid prefix: one to eight ASCII letters and digits. */
export const KEY_PREFIX_PATTERN = /^[A-Za-z0-9]{1,8}$/;

/**
 * The kind of a text that a client sent as a license key.
 * - `native`: a key in the service's own format with a valid checksum; `lookup` is its 25 symbols, without prefix and
 *   hyphens.
 * - `other`: any other text, possibly a key imported from elsewhere; `lookup` is the trimmed text as it is.
 * - `mistyped`: certainly not a key of this service; it is unknown without a query.
 */
export type LicenseKeyReading =
  | { readonly kind: 'native'; readonly lookup: string }
  | { readonly kind: 'other'; readonly lookup: string }
  | { readonly kind: 'mistyped' };

const MISTYPED: LicenseKeyReading = { kind: 'mistyped' };
const SEPARATORS = /[\s\p{Dash_Punctuation}]+/gu;
const PREFIX_AND_SYMBOLS = /^[A-Za-z0-9]{25,33}$/;

/**
 * Creates a license key.
 * @param prefix the catalogue's key prefix, see `KEY_PREFIX_PATTERN`
 * @param randomBytes a cryptographically strong source, for instance `crypto.randomBytes`
 */
export function generateLicenseKey(
  prefix: string,
  randomBytes: (count: number) => Uint8Array,
): string {
  let symbols = '';
  let remainder = 0;
  for (const byte of randomBytes(RANDOM_SYMBOLS)) {
    const value = byte & 31;
    symbols += encodeSymbol(value);
    remainder = (remainder * 32 + value) % CHECK_MODULUS;
  }
  symbols += encodeSymbol(remainder >> 5) + encodeSymbol(remainder);
  return formatLicenseKey(prefix, symbols);
}

/**
 * Reads a text as a license key. Case, spaces and hyphens do not matter, I and L are read as 1, O as 0, and the prefix
 * may be ours, another or absent. Under one `keyPrefix` the same text always reads the same, so a key that was imported
 * is found again. Under another one, an imported key that begins with it and goes on with 25 letters and digits reads
 * as mistyped, and is not found.
 * @param text as the client sent it
 * @param keyPrefix the catalogue's key prefix
 */
export function readLicenseKey(text: string, keyPrefix: string): LicenseKeyReading {
  if (text.length > MAX_LICENSE_KEY_CHARACTERS) return MISTYPED;
  const compact = text.replace(SEPARATORS, '');
  if (PREFIX_AND_SYMBOLS.test(compact)) {
    const lookup = readSymbols(compact.slice(-SYMBOLS));
    if (lookup !== undefined) return { kind: 'native', lookup };
    const prefix = compact.slice(0, -SYMBOLS);
    if (prefix !== '' && prefix.toUpperCase() === keyPrefix.toUpperCase()) return MISTYPED;
  }
  const trimmed = text.trim();
  return trimmed === '' ? MISTYPED : { kind: 'other', lookup: trimmed };
}

const FOLDABLE = /^[A-Za-z0-9]+$/;
const LOWER_CASE = /[a-z]/;
const UPPER_CASE = /[A-Z]/;

/**
 * Folds a text that may be a key from elsewhere: without spaces and hyphens, in upper case. A buyer may paste such a key in
 * any of these spellings.
 * @returns null for a text with other characters, whose spelling matters
 */
function foldForeignKey(text: string): string | null {
  const compact = text.replace(SEPARATORS, '');
  return FOLDABLE.test(compact) ? compact.toUpperCase() : null;
}

/**
 * Lists the texts under which a license with this key is found: the key as it is looked up and, for a key from elsewhere, its
 * folded form. A key with letters of both cases has no folded form, because their case may distinguish it from others.
 * @returns an empty list for a mistyped key
 */
export function listKeyLookups(licenseKey: string, keyPrefix: string): string[] {
  const reading = readLicenseKey(licenseKey, keyPrefix);
  if (reading.kind === 'mistyped') return [];
  const { kind, lookup } = reading;
  const hasBothCases = LOWER_CASE.test(lookup) && UPPER_CASE.test(lookup);
  return kind === 'native' || hasBothCases ? [lookup] : withFolded(lookup);
}

/**
 * Lists the texts to look up for a text that a client sent, in the order of their preference.
 * @returns an empty list for a mistyped key
 */
export function listSentLookups(text: string, keyPrefix: string): string[] {
  const reading = readLicenseKey(text, keyPrefix);
  if (reading.kind === 'mistyped') return [];
  return reading.kind === 'native' ? [reading.lookup] : withFolded(reading.lookup);
}

function withFolded(lookup: string): string[] {
  const folded = foldForeignKey(lookup);
  return folded === null || folded === lookup ? [lookup] : [lookup, folded];
}

function formatLicenseKey(prefix: string, symbols: string): string {
  const parts = [prefix.toUpperCase()];
  for (let start = 0; start < SYMBOLS; start += GROUP_SYMBOLS) {
    parts.push(symbols.slice(start, start + GROUP_SYMBOLS));
  }
  return parts.join('-');
}

/** The canonical form of 25 symbols, or undefined when a character is not a symbol or the checksum is wrong. */
function readSymbols(text: string): string | undefined {
  let remainder = 0;
  let check = 0;
  for (let index = 0; index < SYMBOLS; index += 1) {
    const value = decodeSymbol(text.charCodeAt(index));
    if (value < 0) return undefined;
    if (index < RANDOM_SYMBOLS) remainder = (remainder * 32 + value) % CHECK_MODULUS;
    else check = check * 32 + value;
  }
  return check === remainder ? toCanonicalSymbols(text) : undefined;
}

/**
 * Crockford's base 32: ten digits and the letters without I, L, O and U, designed to be read aloud and typed.
 * https://www.crockford.com/base32.html
 */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Encodes a value from 0 to 31; higher bits are ignored, so that the symbols of random bytes are unbiased. */
export function encodeSymbol(value: number): string {
  return ALPHABET.charAt(value & 31);
}

const valueByCharCode = buildValueTable();

/** Decodes a symbol in either case, I and L as 1, O as 0; returns -1 for a character that is no symbol. */
export function decodeSymbol(charCode: number): number {
  return valueByCharCode[charCode] ?? -1;
}

const NOT_CANONICAL = /[a-zILO]/;

/** Converts symbols to upper case, I and L to 1, O to 0. */
export function toCanonicalSymbols(symbols: string): string {
  if (!NOT_CANONICAL.test(symbols)) return symbols;
  return symbols.toUpperCase().replaceAll(/[IL]/g, '1').replaceAll('O', '0');
}

function buildValueTable(): Int8Array {
  const table = new Int8Array(128).fill(-1);
  const assign = (symbol: string, value: number): void => {
    table[symbol.charCodeAt(0)] = value;
    table[symbol.toLowerCase().charCodeAt(0)] = value;
  };
  for (let value = 0; value < ALPHABET.length; value += 1) assign(ALPHABET.charAt(value), value);
  assign('I', 1);
  assign('L', 1);
  assign('O', 0);
  return table;
}
