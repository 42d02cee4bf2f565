import { estimateKeyBits, lengthOfName, MIN_KEY_BITS } from '#server/lib/key-strength.ts';
import { readLicenseKey } from '#server/lib/license-key.ts';

/**
 * Finds the keys that can be guessed, by `MIN_KEY_BITS`. The prefix that a key shares with its neighbours is known to a
 * guesser and does not count; of a key without neighbours, the letters before the first hyphen do not count. Generated
 * keys are never weak: they have 115 random bits.
 * @param keys the keys of one vendor, in the order of a file
 * @param keyPrefix the catalogue's key prefix
 * @returns a boolean for each key, in their order
 */
export function findWeakKeys(keys: readonly string[], keyPrefix: string): boolean[] {
  return keys.map((key, index) => {
    if (readLicenseKey(key, keyPrefix).kind === 'native') return false;
    const neighbours = [keys[index - 1], keys[index + 1]].filter(
      (other) => other !== undefined && other !== key,
    );
    const shared = neighbours.map((other) => countShared(key, other ?? ''));
    const known = shared.length === 0 ? lengthOfName(key) : Math.max(...shared);
    return estimateKeyBits(key, known) < MIN_KEY_BITS;
  });
}

/** Returns the length of the common prefix of two keys. */
function countShared(one: string, other: string): number {
  let count = 0;
  while (count < one.length && one[count] === other[count]) count += 1;
  return count;
}
