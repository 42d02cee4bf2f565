import { ATTENTION_PREFIX } from './event-state.ts';
import type { LicenseDraft } from './compute-licenses.ts';
import type { SoldTerms } from './plan-licenses.ts';

const DAY_MS = 86_400_000;

/** What a purchase gives to a license. */
export interface Contribution {
  readonly draft: LicenseDraft;
  /** Null: unchanged. */
  readonly terms: SoldTerms | null;
}

/** A license after all of its purchases. */
interface CombinedLicense extends Contribution {
  /** Why purchases did not give all that was paid, by their place in the list. */
  readonly problems: ReadonlyMap<number, string>;
}

const CAUSES = {
  perpetual: `${ATTENTION_PREFIX}the license that it renews has no end, so it adds nothing. Refund the payment at the provider, or issue a license for it.`,
  fewer: `${ATTENTION_PREFIX}it renews a license for fewer machines than this has, and leaves their number. Change it with latchkey license limit, or dismiss the event.`,
} as const;

/**
 * Computes a license from its own purchase and those that renew or upgrade it.
 * - A term of the same product begins where the license ends, or with the purchase if it has ended.
 * - A term of another product begins with the purchase; the license does not end earlier than before.
 * - A subscription takes the license over; what was paid before is not lost.
 * - A purchase that is refunded or disputed counts as if it had not happened. If all are, the newest one decides.
 * @param purchases the license's own purchase, then the others in the order of their payments
 */
export function combinePurchases(
  purchases: readonly [Contribution, ...Contribution[]],
): CombinedLicense {
  const problems = new Map<number, string>();
  let state: Contribution | null = null;
  for (const [index, next] of purchases.entries()) {
    if (isTakenBack(next)) continue;
    const result: Step = state === null ? next : apply(state, next);
    if (result.problem !== undefined) problems.set(index, result.problem);
    state = { draft: result.draft, terms: result.terms };
  }
  const last = purchases.findLast(({ draft }) => draft.disputedAt !== null) ?? purchases.at(-1);
  return { ...(state ?? last ?? purchases[0]), problems };
}

interface Step extends Contribution {
  readonly problem?: string;
}

function isTakenBack({ draft }: Contribution): boolean {
  return (draft.refundedAt ?? draft.disputedAt) !== null;
}

function apply(state: Contribution, next: Contribution): Step {
  const rest = usableEnd(state.draft);
  if (rest === null) return applyToPerpetual(state, next);
  return next.draft.subscription ? takeOver(state, rest, next) : extend(state, rest, next);
}

/** A license without an end can only get another product or more machines, for good, or updates. */
function applyToPerpetual(state: Contribution, next: Contribution): Step {
  const isForGood = !next.draft.subscription && usableEnd(next.draft) === null;
  const isMore = !isSameProduct(state, next) || countMachines(next) > countMachines(state);
  if (isForGood && isMore) return next;
  const addsUpdates = isSameProduct(state, next) && next.draft.updates !== null;
  return addsUpdates ? state : { ...state, problem: CAUSES.perpetual };
}

/** A subscription that is over does not shorten what was paid otherwise. */
function takeOver(state: Contribution, rest: Date, next: Contribution): Step {
  const { draft, terms } = next;
  const end = usableEnd(draft);
  if (end !== null && rest <= end) return next;
  return isOver(draft) ? state : { draft: { ...draft, expiresAt: rest }, terms };
}

function extend(state: Contribution, rest: Date, next: Contribution): Step {
  const { draft, terms } = next;
  const isRunning = state.draft.subscription && !isOver(state.draft);
  const expiresAt = findEnd(state, rest, next);
  const isSame = isSameProduct(state, next);
  const isFewer = isSame && countMachines(next) < countMachines(state);
  return {
    draft: {
      ...draft,
      expiresAt,
      subscription: isRunning && expiresAt !== null,
      hasGrace: isRunning && expiresAt !== null && state.draft.hasGrace,
    },
    terms: isFewer ? state.terms : terms,
    ...(isFewer ? { problem: CAUSES.fewer } : {}),
  };
}

function findEnd(state: Contribution, rest: Date, next: Contribution): Date | null {
  const { soldAt, product } = next.draft;
  const days = product?.durationDays ?? null;
  if (days === null) return null;
  if (isSameProduct(state, next)) return addDays(later(rest, soldAt), days);
  return later(rest, addDays(soldAt, days));
}

function isSameProduct(one: Contribution, other: Contribution): boolean {
  return one.terms?.productId === other.terms?.productId;
}

function countMachines({ terms }: Contribution): number {
  return terms?.maxActivations ?? 0;
}

function isOver({ canceledAt, pausedAt }: LicenseDraft): boolean {
  return (canceledAt ?? pausedAt) !== null;
}

/** When a license stops to be usable; null: never. */
function usableEnd({ expiresAt, canceledAt, pausedAt }: LicenseDraft): Date | null {
  const ends = [expiresAt, canceledAt, pausedAt].filter((end) => end !== null);
  return ends.length === 0 ? null : new Date(Math.min(...ends.map((end) => end.getTime())));
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}

function addDays(from: Date, days: number): Date {
  return new Date(from.getTime() + days * DAY_MS);
}
