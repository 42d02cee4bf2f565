/**
 * The key that signs at a moment: the last one whose time has come, or else the first.
 * @param keys in the order of `activeFrom`
 */
export function findCurrentKey<Key extends { readonly activeFrom: Date }>(
  keys: readonly Key[],
  now: Date,
): Key | undefined {
  return keys.findLast(({ activeFrom }) => activeFrom <= now) ?? keys[0];
}
