import { estimateKeyBits, lengthOfName, MIN_KEY_BITS } from '#server/lib/key-strength.ts';
import { readLicenseKey } from '#server/lib/license-key.ts';

/**
 * Finds the keys that a guesser could try, by `MIN_KEY_BITS`. What a key shares with the beginning of its neighbours is
 * known to a guesser and does not count; of a key without neighbours, letters in front of the first hyphen do not. Keys of
 * the service's own form are never weak: they have 115 random bits.
 * @param keys of one vendor, as they stand in a file one after the other
 * @param keyPrefix the catalogue's key prefix
 * @returns one answer for each key, in their order
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

/** How many characters two keys have in common at their beginning. */
function countShared(one: string, other: string): number {
  let count = 0;
  while (count < one.length && one[count] === other[count]) count += 1;
  return count;
}
