/** The end of updates: days that are paid for follow those that the license has. */
import { combineParts, isTakenBack } from './model-license.ts';
import { ownerOf, type Part, type Purchase } from './model-purchase.ts';

/**
 * Lists the licenses whose updates a person renews without naming one: those that the person bought at the provider, else those
 * that the person owns. Only a single one is clear.
 * @param purchases before
 * @returns the purchases of the licenses
 */
export function listCandidates(
  purchases: readonly Purchase[],
  {
    person,
    seller,
    isTest,
  }: { readonly person: number; readonly seller: string; readonly isTest: boolean },
): Purchase[] {
  const sold = purchases.filter(
    (each) =>
      each.good.products.includes('versions') &&
      !each.good.isUpdates &&
      each.renews === null &&
      each.isTest === isTest &&
      !each.isReturned,
  );
  // Stripe's checkouts of single payments have no customer.
  const bought = sold.filter(
    (each) => each.payer === person && each.seller === seller && seller !== 'stripe',
  );
  return bought.length > 0 ? bought : sold.filter((each) => ownerOf(each) === person);
}

/** A purchase of updates for a license. */
export interface PaidUpdates {
  readonly day: number;
  readonly days: number;
  readonly isTakenBack: boolean;
}

/** Returns the end of updates of a license; null: it gets all. @param parts of the license */
export function endOfUpdates(
  parts: readonly [Part, ...Part[]],
  paid: readonly PaidUpdates[],
): number | null {
  const { withoutEffect } = combineParts(parts);
  const effective = parts.filter((_, place) => !withoutEffect.includes(place));
  const [base] = parts;
  const upgrades = effective.filter((part) => !isTakenBack(part) && part.product !== base.product);
  // The newest upgrade decides whether there is an end.
  if ((upgrades.at(-1) ?? base).updates === null) return null;
  const sold = effective.filter((part) => part.updates !== null);
  const all = [
    ...sold.map((part) => ({
      day: part.paidOn,
      end: part.updates === 'paid time' ? part.end : null,
      days: typeof part.updates === 'number' ? part.updates : 0,
      isTakenBack: isTakenBack(part),
    })),
    ...paid.map((each) => ({ ...each, end: null })),
  ].sort((a, b) => a.day - b.day);
  let end: number | null = null;
  for (const each of all) {
    if (each.isTakenBack) end ??= each.day;
    else end = Math.max(end ?? 0, each.end ?? Math.max(end ?? 0, each.day) + each.days);
  }
  return end;
}
