/** What each buyer must have, and which purchases need an operator. */
import { combineParts, isLarger } from './model-license.ts';
import { listParts, ownerOf, type Part, type Purchase } from './model-purchase.ts';
import { endOfUpdates, type PaidUpdates } from './model-updates.ts';
import { productAfter } from './goods.ts';

/** A license on the last day. */
export interface ModelLicense {
  readonly owner: number;
  readonly product: string;
  readonly machines: number;
  readonly end: number | null;
  readonly updates: number | null;
  readonly isRefunded: boolean;
  readonly isCanceled: boolean;
  readonly isDisputed: boolean;
  readonly isTest: boolean;
}

/** The outcome of a story. */
export interface Outcome {
  readonly licenses: readonly ModelLicense[];
  /** The numbers of the purchases that need an operator. */
  readonly attention: readonly number[];
}

/** @param purchases in the order of their days */
export function computeOutcome(purchases: readonly Purchase[]): Outcome {
  const attention = new Set<number>();
  const licenses: ModelLicense[] = [];
  for (const purchase of purchases) {
    if (!isServed(purchase)) attention.add(purchase.number);
    for (const [place, part] of listNewLicenses(purchase).entries()) {
      const renewals = place === 0 ? listRenewals(purchases, purchase) : [];
      const parts = [part, ...renewals.map((each) => firstPart(each))] as const;
      const { unearned, ...license } = combineParts(parts);
      for (const at of unearned) attention.add(renewals[at - 1]?.number ?? purchase.number);
      const paid = place === 0 ? listUpdates(purchases, purchase) : [];
      licenses.push({
        owner: ownerOf(purchase),
        product: license.product,
        machines: license.machines,
        end: license.end,
        updates: endOfUpdates(parts, paid),
        isRefunded: license.isRefunded,
        isCanceled: license.canceledOn !== null,
        isDisputed: license.isDisputed,
        isTest: purchase.isTest,
      });
    }
  }
  return { licenses, attention: [...attention].sort((a, b) => a - b) };
}

/** Whether a purchase got what it paid for, as far as that does not depend on what its license was before. */
function isServed(purchase: Purchase): boolean {
  const { good, hasKey, isDisputed, renews, subscription } = purchase;
  const isReturned = purchase.isReturned || subscription?.state().isRefunded === true;
  if (renews !== null && hasObstacle(purchase, renews)) return isReturned;
  if (good.isUpdates) {
    return findUpdated(purchase) !== null || isReturned || isDisputed;
  }
  const isKnown = good.products.length > 0;
  return isReturned || (isKnown && (hasKey || renews !== null));
}

/** A license is renewed by its owner, or for its owner, and not by a test. */
function hasObstacle(purchase: Purchase, renews: Purchase): boolean {
  const owner = ownerOf(renews);
  const isOthers = owner !== purchase.payer && owner !== purchase.giftTo;
  const isOther = purchase.good.isUpdates && renews.good.products[0] !== 'versions';
  return isOthers || isOther || purchase.isTooSmall || purchase.isTest !== renews.isTest;
}

/** Whether a purchase would make the license smaller that it names. @param purchases before it */
export function isTooSmall(purchases: readonly Purchase[], purchase: Purchase): boolean {
  const { renews, good } = purchase;
  if (renews === null || good.isUpdates) return false;
  const renewals = listRenewals(purchases, renews).filter((each) => each !== purchase);
  const parts = [firstPart(renews), ...renewals.map(firstPart)] as const;
  const current = combineParts(parts);
  const own = firstPart(purchase);
  if (own.product === current.product) return false;
  return parts.some(({ product }) => !isLarger(own, { ...current, product }));
}

/** The first license of a purchase that renews one is that one. */
function listNewLicenses(purchase: Purchase): Part[] {
  if (purchase.good.isUpdates) return [];
  if (purchase.renews !== null) return listParts(purchase).slice(1);
  return purchase.hasKey ? listParts(purchase) : [];
}

function listRenewals(purchases: readonly Purchase[], own: Purchase): Purchase[] {
  if (own.renews !== null) return [];
  return purchases.filter(
    (each) => each.renews === own && !each.good.isUpdates && !hasObstacle(each, own),
  );
}

function firstPart(purchase: Purchase): Part {
  const [first] = listParts(purchase);
  if (first === undefined) throw new Error('a purchase that renews a license sells nothing');
  return first;
}

function listUpdates(purchases: readonly Purchase[], own: Purchase): PaidUpdates[] {
  return purchases
    .filter(({ good }) => good.isUpdates)
    .filter((each) => findUpdated(each) === own)
    .map(({ day, edits, isReturned, isDisputed }) => ({
      day,
      days: productAfter(edits, 'versions').updates ?? 0,
      isTakenBack: isReturned || isDisputed,
    }));
}

/** Returns the purchase of the license whose updates are renewed; null: it is not clear which one. */
function findUpdated(purchase: Purchase): Purchase | null {
  const { renews, candidates } = purchase;
  if (renews !== null) return hasObstacle(purchase, renews) ? null : renews;
  return candidates.length === 1 ? (candidates[0] ?? null) : null;
}
