/** A key with a lower estimate can be guessed; a random key of 13 letters and digits has a higher one. */
export const MIN_KEY_BITS = 64;

const GROUPS = /[\p{L}\p{N}]+/gu;
const SYMBOLS = /[\p{L}\p{N}]/gu;

/** A first group of letters alone, such as the name of a product, which every key of a vendor may have. */
const NAME_IN_FRONT = /^\s*\p{L}+(?=[^\p{L}\p{N}])/u;

/** Alphabets, smallest first, with the bits of a random symbol. */
const ALPHABETS: readonly (readonly [RegExp, number])[] = [
  [/^\d+$/u, Math.log2(10)],
  [/^(?:[\da-f]+|[\dA-F]+)$/u, Math.log2(16)],
  [/^(?:[a-z]+|[A-Z]+)$/u, Math.log2(26)],
  [/^(?:[\da-z]+|[\dA-Z]+)$/u, Math.log2(36)],
];
const MIXED_BITS = Math.log2(62);

/**
 * Estimates, conservatively, how many bits of a license key a guesser does not know. Each group of letters
 * and digits counts by the smallest alphabet that has all of its symbols. Not counted are a symbol that repeats or
 * follows the one before it (`AAA`, `123`, `321`), a repeated group, and everything up to `knownCharacters`. It sees
 * symbols, not how they were created: a key from a weak generator may have fewer.
 * @param knownCharacters so many characters in front are known, for instance because other keys share them
 */
export function estimateKeyBits(key: string, knownCharacters: number): number {
  const groups = new Set(key.slice(knownCharacters).match(GROUPS) ?? []);
  return [...groups].reduce((bits, group) => bits + estimateGroupBits(group), 0);
}

/** The length of a first group of letters alone; 0 for a key without one. */
export function lengthOfName(key: string): number {
  return NAME_IN_FRONT.exec(key)?.[0].length ?? 0;
}

/** Counts the letters and digits of a key that may be secret: those after the leading name. */
export function countSecretSymbols(key: string): number {
  return key.slice(lengthOfName(key)).match(SYMBOLS)?.length ?? 0;
}

function estimateGroupBits(group: string): number {
  const bits = ALPHABETS.find(([alphabet]) => alphabet.test(group))?.[1] ?? MIXED_BITS;
  const codes = Array.from(group, (symbol) => symbol.codePointAt(0) ?? 0);
  const counted = codes.filter((code, index) => {
    const previous = codes[index - 1];
    return previous === undefined || Math.abs(code - previous) > 1;
  });
  return counted.length * bits;
}
