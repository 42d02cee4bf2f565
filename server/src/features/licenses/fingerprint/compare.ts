import { componentName, type HashedIdentity } from './hashed-identity.ts';

/**
 * Whether two identities are one machine: they are identical, or a strong component agrees, or at least two and at
 * least half of the comparable components agree, one of them of medium strength. Symmetric.
 *
 * Comparable is what both sides name. Of a name with several values (hardware addresses), as many are comparable as the
 * side with fewer has: a docking station that adds an address does no harm.
 */
export function isSameMachine(stored: HashedIdentity, presented: HashedIdentity): boolean {
  if (stored.digest === presented.digest) return true;
  if (sharesStrongComponent(stored, presented)) return true;
  const mediumAgreeing = countShared(stored.medium, presented.medium);
  if (mediumAgreeing === 0) return false;
  const agreeing = mediumAgreeing + countShared(stored.weak, presented.weak);
  const comparable = countComparable(stored, presented);
  return agreeing >= Math.max(2, Math.ceil(comparable / 2));
}

/** Whether they have a component in common that is unique by design. */
export function sharesStrongComponent(one: HashedIdentity, other: HashedIdentity): boolean {
  return countShared(one.strong, other.strong) > 0;
}

function countShared(one: readonly string[], other: readonly string[]): number {
  return one.filter((component) => other.includes(component)).length;
}

function countComparable(one: HashedIdentity, other: HashedIdentity): number {
  const otherCounts = countNames(other);
  let comparable = 0;
  for (const [name, count] of countNames(one)) {
    comparable += Math.min(count, otherCounts.get(name) ?? 0);
  }
  return comparable;
}

function countNames(identity: HashedIdentity): Map<string, number> {
  const counts = new Map<string, number>();
  for (const component of [...identity.strong, ...identity.medium, ...identity.weak]) {
    const name = componentName(component);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
