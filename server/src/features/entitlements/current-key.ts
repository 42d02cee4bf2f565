/** When a key signs. */
interface Lifetime {
  readonly activeFrom: Date;
  readonly retiredAt: Date | null;
}

/**
 * The key that signs at a moment: the youngest that is active and not retired, or else the first that is not retired,
 * because the clock of another process may be ahead of this one.
 * @param keys in the order in which they were created
 * @returns undefined when every key is retired
 */
export function findCurrentKey<Key extends Lifetime>(
  keys: readonly Key[],
  now: Date,
): Key | undefined {
  const usable = keys.filter(({ retiredAt }) => retiredAt === null || retiredAt > now);
  return usable.findLast(({ activeFrom }) => activeFrom <= now) ?? usable[0];
}
