/** A license key as a person typed it: what to send, and whether it can be right. */
export interface KeyReading {
  readonly key: string;
  /** `foreign`: no key in the service's own form; it was perhaps issued elsewhere, and is sent as it is. */
  readonly verdict: 'ok' | 'mistyped' | 'foreign';
}

/** Crockford's base 32: digits and letters without I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CHECKED_SYMBOLS = 23;
/** The last two symbols are the number of the others modulo this prime. */
const CHECK_MODULUS = 1021;

const SEPARATORS = /[\s\p{Dash_Punctuation}]+/gu;
const PARTS = /^(?<prefix>[A-Za-z0-9]{0,8})(?<symbols>[A-Za-z0-9]{25})$/;

/**
 * Reads a key that a person typed or pasted: case, blanks and kinds of dashes do not matter, O is read as 0, I and L as 1. A wrong
 * checksum is `mistyped` only if a separator follows the prefix: a UUID, or 32 digits of another shop, is `foreign`.
 */
export function readKey(text: string): KeyReading {
  const typed = text.trim();
  const { prefix = '', symbols = '' } = PARTS.exec(typed.replace(SEPARATORS, ''))?.groups ?? {};
  const values = readSymbols(symbols);
  if (values === null) return { key: typed, verdict: 'foreign' };
  const isRight = hasRightChecksum(values);
  if (!isRight && (prefix === '' || typed.split(SEPARATORS)[0] !== prefix)) {
    return { key: typed, verdict: 'foreign' };
  }
  const groups =
    values
      .map((value) => ALPHABET.charAt(value))
      .join('')
      .match(/.{5}/g) ?? [];
  const key = (prefix === '' ? groups : [prefix.toUpperCase(), ...groups]).join('-');
  return { key, verdict: isRight ? 'ok' : 'mistyped' };
}

/** Returns the values of symbols; null if one is none, or if there are none. */
function readSymbols(symbols: string): number[] | null {
  const canonical = symbols.toUpperCase().replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  const values = Array.from(canonical, (symbol) => ALPHABET.indexOf(symbol));
  return values.length === 0 || values.includes(-1) ? null : values;
}

function hasRightChecksum(values: readonly number[]): boolean {
  const remainder = values
    .slice(0, CHECKED_SYMBOLS)
    .reduce((sum, value) => (sum * 32 + value) % CHECK_MODULUS, 0);
  const [high = 0, low = 0] = values.slice(CHECKED_SYMBOLS);
  return high * 32 + low === remainder;
}

/** Returns the last five characters of a key, which support may know. */
export function lastGroup(key: string): string {
  return `…${key.slice(-5)}`;
}
