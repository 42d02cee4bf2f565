/**
 * Crockford's base 32: ten digits and the letters without I, L, O and U, made to be read aloud and typed.
 * https://www.crockford.com/base32.html
 */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The symbol of a value.
 * @param value 0 to 31; higher bits are ignored, so that a random byte gives an unbiased symbol
 */
export function encodeSymbol(value: number): string {
  return ALPHABET.charAt(value & 31);
}

const valueByCharCode = buildValueTable();

/**
 * The value of a symbol, read forgivingly: either case, I and L for 1, O for 0.
 * @returns 0 to 31, or -1 when the character is no symbol
 */
export function decodeSymbol(charCode: number): number {
  return valueByCharCode[charCode] ?? -1;
}

const FORGIVEN = /[a-zILO]/;

/**
 * The one spelling of symbols that all read the same: upper case, 1 for I and L, 0 for O.
 * @param symbols each of which `decodeSymbol` knows
 */
export function toCanonicalSymbols(symbols: string): string {
  if (!FORGIVEN.test(symbols)) return symbols;
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
