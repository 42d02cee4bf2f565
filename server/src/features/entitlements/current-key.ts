/**
 * The key that signs at a moment: the youngest whose time has come, or else the first. The youngest, not the one whose time
 * came last: a key made in an emergency, to sign at once, is not to give way to one that was announced before it.
 * @param keys in the order in which they were made
 */
export function findCurrentKey<Key extends { readonly activeFrom: Date }>(
  keys: readonly Key[],
  now: Date,
): Key | undefined {
  return keys.findLast(({ activeFrom }) => activeFrom <= now) ?? keys[0];
}
