/**
 * Crockford's base 32: ten digits and the letters without I, L, O and U, made to be read aloud and typed.
 * https://www.crockford.com/base32.html
 */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** How many bits one symbol carries. */
export const BITS_PER_SYMBOL = 5;

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
