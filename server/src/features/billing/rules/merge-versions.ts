/** Merges the versions of a fact that several events report. */
import {
  occurrenceOf,
  type AdjustmentFact,
  type CustomerDetails,
  type PaymentFact,
} from '../facts.ts';
import { isOtherCustomer } from './set-aside.ts';

export type Sourced<Fact> = Fact & { readonly eventId: string };

/** All versions of a payment in one. */
export interface MergedPayment extends Sourced<PaymentFact> {
  /** The event that used the transaction's id for something else, if there is one. */
  readonly conflictEventId?: string;
}

/**
 * The newest version applies, with the time of the oldest one; older versions fill in missing values. The first version
 * decides what the payment is: one that says something else under the same id has no effect.
 */
export function mergePayment(versions: readonly Sourced<PaymentFact>[]): MergedPayment {
  const [only, ...others] = versions;
  if (only !== undefined && others.length === 0) return only;
  const first = versions.find(({ origin }) => origin !== 'other');
  const owner = versions.find(({ customerId }) => customerId !== null);
  const isConflict = (each: PaymentFact): boolean =>
    (each.origin !== 'other' && each.origin !== first?.origin) ||
    (owner !== undefined && isOtherCustomer(owner, each));
  const conflictEventId = versions.find(isConflict)?.eventId;
  const merged = versions
    .filter((version) => !isConflict(version))
    .reduce((older, newer) => ({
      // Currency, tax, fee and country are reported by some versions only.
      ...withoutDetails(older),
      ...withoutDetails(newer),
      // A version without an amount only links ids, and may be dated before the payment.
      ...occurrenceOf(older.total === null && newer.total !== null ? newer : older),
      origin: first?.origin ?? 'other',
      subscriptionId: newer.subscriptionId ?? older.subscriptionId,
      customerId: newer.customerId ?? older.customerId,
      customer: mergeCustomer(older.customer, newer.customer),
      period: newer.period ?? older.period,
      ...mergeLines(older, newer),
      ...mergeIds(older, newer),
    }));
  const answered = withRefusal(merged, versions);
  return conflictEventId === undefined ? answered : { ...answered, conflictEventId };
}

function isRefused({ origin, problem }: PaymentFact): boolean {
  return origin === 'other' && problem !== undefined;
}

/** While a payment has a problem, a look-up that was refused says why. */
function withRefusal(
  merged: Sourced<PaymentFact>,
  versions: readonly Sourced<PaymentFact>[],
): Sourced<PaymentFact> {
  const problem = versions.findLast(isRefused)?.problem;
  if (merged.problem === undefined || problem === undefined) return merged;
  // An operator sees the event of the payment, not that of the look-up.
  const { eventId } = versions.findLast(({ origin }) => origin !== 'other') ?? merged;
  return { ...merged, problem, eventId };
}

/**
 * A version without lines only links ids. The lines of an invoice replace those of its checkout, in any order: a checkout may
 * lack a quantity.
 */
function mergeLines(
  older: PaymentFact,
  newer: PaymentFact,
): Pick<PaymentFact, 'lines' | 'total'> & Details {
  const source = !isListed(newer) && (isListed(older) || newer.lines.length === 0) ? older : newer;
  return {
    lines: source.lines,
    total: newer.total ?? older.total,
    ...(source.prorations === undefined ? {} : { prorations: source.prorations }),
    // A list without a problem answers the question that an earlier version left open.
    ...(source.problem === undefined ? {} : { problem: source.problem }),
  };
}

function isListed({ lines, problem }: PaymentFact): boolean {
  return lines.length > 0 && problem === undefined;
}

type Details = Pick<PaymentFact, 'prorations' | 'problem'>;

/** The fields of a payment without those that belong to its list of lines. */
function withoutDetails({
  prorations: _prorations,
  problem: _problem,
  ...payment
}: Sourced<PaymentFact>): Sourced<Omit<PaymentFact, keyof Details>> {
  return payment;
}

/** The newest version applies, with the time of the first one with the same content. */
export function mergeAdjustment(
  versions: readonly Sourced<AdjustmentFact>[],
): Sourced<AdjustmentFact> {
  return versions.reduce((older, newer) =>
    hasSameContent(older, newer) ? { ...newer, ...occurrenceOf(older) } : newer,
  );
}

function hasSameContent(a: AdjustmentFact, b: AdjustmentFact): boolean {
  return a.effect === b.effect && a.status === b.status && a.full === b.full && a.total === b.total;
}

function mergeIds(older: PaymentFact, newer: PaymentFact): Partial<PaymentFact> {
  const checkoutId = newer.checkoutId ?? older.checkoutId;
  const renews = newer.renews ?? older.renews;
  const isErased = older.recipient?.isErased === true;
  const recipient = isErased ? older.recipient : (newer.recipient ?? older.recipient);
  return {
    aliases: [...new Set([...(older.aliases ?? []), ...(newer.aliases ?? [])])],
    ...(checkoutId === undefined ? {} : { checkoutId }),
    ...(renews === undefined ? {} : { renews }),
    ...(recipient === undefined ? {} : { recipient }),
  };
}

/** Returns the newer details, and older ones for missing values. */
export function mergeCustomer(older: CustomerDetails, newer: CustomerDetails): CustomerDetails {
  return {
    email: newer.email ?? older.email,
    name: newer.name ?? older.name,
    locale: newer.locale ?? older.locale,
  };
}
