import { ATTENTION_PREFIX } from './event-state.ts';
import { isLarger, type ComparedTerms } from './compare-terms.ts';
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
  /** The places of those that change nothing. */
  readonly withoutEffect: ReadonlySet<number>;
}

const CAUSES = {
  perpetual: `${ATTENTION_PREFIX}the license that it renews has no end, so it adds nothing. Refund the payment at the provider, or issue a license for it.`,
  smaller: `${ATTENTION_PREFIX}what it pays is a smaller product than the license that it renews, which was paid for longer. The license stays as it is. Issue a license for the payment with latchkey webhook issue, or refund it at the provider.`,
  fewer: `${ATTENTION_PREFIX}it renews a license for fewer machines than this has, and leaves their number. Change it with latchkey license limit, or dismiss the event.`,
} as const;

/**
 * Computes a license from its own purchase and those that renew or upgrade it.
 * - A term of the same product begins where the license ends, or with the purchase if it has ended.
 * - A term of another product begins with the purchase; the license does not end earlier than before.
 * - A subscription takes the license over; what was paid before is not lost.
 * - While a license runs, no later purchase gives it a smaller product or fewer machines.
 * - A purchase that is refunded or disputed counts as if it had not happened. If all are, the newest one decides.
 * @param purchases the license's own purchase, then the others in the order of their payments
 */
export function combinePurchases(
  purchases: readonly [Contribution, ...Contribution[]],
): CombinedLicense {
  const problems = new Map<number, string>();
  const withoutEffect = new Set<number>();
  let state: Contribution | null = null;
  for (const [index, next] of purchases.entries()) {
    if (isTakenBack(next)) continue;
    const isNew = !purchases.slice(0, index).some((each) => isSameProduct(each, next));
    const result: Step = state === null ? next : apply(state, next, isNew);
    if (result.problem !== undefined) problems.set(index, result.problem);
    if (result.hasNoEffect === true) withoutEffect.add(index);
    state = { draft: result.draft, terms: result.terms };
  }
  const last = purchases.findLast(({ draft }) => draft.disputedAt !== null) ?? purchases.at(-1);
  return { ...(state ?? last ?? purchases[0]), problems, withoutEffect };
}

interface Step extends Contribution {
  readonly problem?: string;
  readonly hasNoEffect?: true;
}

function isTakenBack({ draft }: Contribution): boolean {
  return (draft.refundedAt ?? draft.disputedAt) !== null;
}

/** @param isNew whether no purchase before it had its product */
function apply(state: Contribution, next: Contribution, isNew: boolean): Step {
  const rest = usableEnd(state.draft);
  const isRunning = rest === null || rest > (next.draft.periodStartsAt ?? next.draft.soldAt);
  if (isRunning && isSmaller(state, next, isNew)) return toUnchanged(state, CAUSES.smaller);
  if (rest === null) return applyToPerpetual(state, next);
  if (!next.draft.subscription) return extend(state, rest, next);
  const taken = takeOver(state, rest, next);
  return isRunning ? keepMachines(state, taken) : taken;
}

/**
 * Whether a purchase would change the product to one that is not larger. That was examined when the purchase was recorded as one
 * that renews the license; the catalogue of today decides only about prices that changed since, because its features may change.
 */
function isSmaller(state: Contribution, next: Contribution, isNew: boolean): boolean {
  if (isSameProduct(state, next) || state.terms === null || next.terms === null) return false;
  const isExamined = isNew && !hasChangedPrice(state) && !hasChangedPrice(next);
  return !isExamined && !isLarger(toCompared(next.terms), toCompared(state.terms));
}

function hasChangedPrice({ draft }: Contribution): boolean {
  return draft.hasChangedPrice === true;
}

function toCompared({ productId, features, maxActivations }: SoldTerms): ComparedTerms {
  return { productId, features, maxActivations };
}

function toUnchanged(state: Contribution, problem: string): Step {
  return { ...state, problem, hasNoEffect: true };
}

/** Leaves the machines of a license that runs. */
function keepMachines(state: Contribution, taken: Step): Step {
  const machines = countMachines(state);
  if (taken.terms === null || countMachines(taken) >= machines) return taken;
  return { ...taken, terms: { ...taken.terms, maxActivations: machines }, problem: CAUSES.fewer };
}

/** A license without an end can only get another product or more machines, for good, or updates. */
function applyToPerpetual(state: Contribution, next: Contribution): Step {
  const isForGood = !next.draft.subscription && usableEnd(next.draft) === null;
  const isMore = !isSameProduct(state, next) || countMachines(next) > countMachines(state);
  if (isForGood && isMore) return next;
  const addsUpdates = isSameProduct(state, next) && next.draft.updates !== null;
  return addsUpdates ? state : toUnchanged(state, CAUSES.perpetual);
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
