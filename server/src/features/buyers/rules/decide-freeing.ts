const DAY_MS = 86_400_000;

/** Whether the owner of a license may deactivate a machine. */
export type FreeingDecision =
  | { readonly kind: 'free' | 'already' }
  /** The machine runs without a connection until then, which nobody can end. */
  | { readonly kind: 'airgapped'; readonly until: Date }
  /** The owner deactivated as many machines as allowed within a number of days. */
  | {
      readonly kind: 'limit';
      readonly limit: number;
      readonly days: number;
      readonly availableAt: Date;
    };

export interface FreeingFacts {
  readonly machine: {
    readonly deactivatedAt: Date | null;
    readonly airgappedUntil: Date | null;
  };
  /** How many machines the owner may deactivate within a number of days. */
  readonly limit: number;
  readonly days: number;
  /** When the owner deactivated the machine with which the limit was reached; null: it is not reached. */
  readonly limitReachedAt: Date | null;
}

/**
 * Decides whether the owner of a license may deactivate a machine. Without the limit, one license could serve any number of
 * machines in turn, each of which runs until its token expires.
 */
export function decideFreeing(
  { machine, limit, days, limitReachedAt }: FreeingFacts,
  now: Date,
): FreeingDecision {
  const { airgappedUntil, deactivatedAt } = machine;
  if (deactivatedAt !== null) return { kind: 'already' };
  if (airgappedUntil !== null && airgappedUntil > now) {
    return { kind: 'airgapped', until: airgappedUntil };
  }
  if (limitReachedAt === null) return { kind: 'free' };
  const availableAt = new Date(limitReachedAt.getTime() + days * DAY_MS);
  return { kind: 'limit', limit, days, availableAt };
}
