/**
 * How a presented machine id compares to an activation's: `same`, `other`, or `unbound` when the activation has none yet.
 * Compared verbatim: the id is the client's own text, and nothing is known about its form.
 */
export function compareMachineId(
  stored: string | null,
  presented: string,
): 'same' | 'other' | 'unbound' {
  if (stored === null) return 'unbound';
  return stored === presented ? 'same' : 'other';
}
