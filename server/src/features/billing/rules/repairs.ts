/** What operators repaired: facts beside those of the provider, which replays keep. */
import { providerOf } from '@latchkey/contract';

import { LINKING_PAYMENT, type CustomerDetails, type RepairFact } from '../facts.ts';
import type { FindProduct, LicenseDraft, SoldProduct } from './compute-licenses.ts';
import { toDays } from './draft-updates.ts';
import { findDispute, findRefund } from './money-back.ts';
import type { MergedPayment, Purchase, PurchaseFacts } from './group-purchases.ts';
import type { SoldCatalog } from './plan-licenses.ts';
import type { SetAsideFact } from './set-aside.ts';

/** Starts the price of a product that an operator issued from an event; its id follows. */
const PRODUCT_PREFIX = 'product:';

/** A price that an operator assigned to a product in all purchases. */
export interface AssignedPrice {
  readonly provider: string;
  readonly priceId: string;
  readonly productId: string;
}

/** Adds prices that operators assigned to products; the catalogue takes precedence. */
export function withAssignedPrices(
  catalog: SoldCatalog,
  prices: readonly AssignedPrice[],
): SoldCatalog {
  const productIds = new Map(
    prices.map(({ provider, priceId, productId }) => [`${provider} ${priceId}`, productId]),
  );
  return {
    ...catalog,
    findPrice: (provider, priceId) =>
      catalog.findPrice(provider, priceId) ??
      catalog.products.get(productIds.get(`${provider} ${priceId}`) ?? '') ??
      null,
  };
}

/** Adds what an operator repaired in a purchase, which takes precedence over the catalogue. */
export function withRepairs(catalog: SoldCatalog, { repairs = [] }: PurchaseFacts): SoldCatalog {
  if (repairs.length === 0) return catalog;
  const productIds = new Map(
    repairs.flatMap((each) =>
      each.repair === 'price' ? [[each.priceId, each.productId] as const] : [],
    ),
  );
  const findPrice: SoldCatalog['findPrice'] = (provider, priceId) => {
    const productId = priceId.startsWith(PRODUCT_PREFIX)
      ? priceId.slice(PRODUCT_PREFIX.length)
      : productIds.get(priceId);
    const product = productId === undefined ? undefined : catalog.products.get(productId);
    return product ?? catalog.findPrice(provider, priceId);
  };
  return { ...catalog, findPrice };
}

/** Computes the licenses that operators issued from payments: one for each product, with the newest quantity. */
export function computeIssued(facts: PurchaseFacts, findProduct: FindProduct): LicenseDraft[] {
  const issued = new Map(
    listIssues(facts).map((each) => [`issued:${each.transactionId}:${each.productId}`, each]),
  );
  return Array.from(issued, ([lineKey, repair], index) => {
    const payment = facts.payments.find((each) => each.transactionId === repair.transactionId);
    return toDraft(facts, payment ?? null, repair, { lineKey, index }, findProduct);
  });
}

/** After the lines of any checkout. */
const FIRST_POSITION = 10_000;

const DAY_MS = 86_400_000;

function toDraft(
  { provider, adjustments }: PurchaseFacts,
  payment: MergedPayment | null,
  repair: IssueRepair,
  { lineKey, index }: { readonly lineKey: string; readonly index: number },
  findProduct: FindProduct,
): LicenseDraft {
  const { productId, quantity, transactionId } = repair;
  const checkoutId = payment?.checkoutId ?? transactionId;
  const priceId = `${PRODUCT_PREFIX}${productId}`;
  const line = {
    transactionId,
    lineKey,
    part: 0,
    priceIds: new Set([priceId]),
    quantities: [quantity],
  };
  const product = findProduct(priceId, line);
  const { occurredAt } = payment ?? repair;
  // A payment that cannot be right is set aside, but can be paid back.
  const paid = payment ?? { ...LINKING_PAYMENT, transactionId, occurredAt };
  const disputedAt = findDispute([paid], adjustments, () => null);
  const refundedAt = findRefund(paid, adjustments, null);
  return {
    transactionId,
    // Lemon Squeezy numbers its invoices: their ids could be guessed.
    checkoutId:
      providerOf(provider) === 'lemonsqueezy' && payment?.origin !== 'purchase' ? null : checkoutId,
    lineKey,
    position: FIRST_POSITION + index,
    product,
    priceId,
    quantity,
    soldAt: (payment ?? repair).occurredAt,
    total: payment?.total ?? null,
    subscription: false,
    hasGrace: false,
    expiresAt: endOfTerm(product, occurredAt),
    cancelScheduledFor: null,
    canceledAt: null,
    pausedAt: null,
    disputedAt,
    refundedAt,
    updates: toDays(product, occurredAt, refundedAt ?? disputedAt),
  };
}

function endOfTerm(product: SoldProduct | null, from: Date): Date | null {
  if (product?.endsAt !== undefined) return product.endsAt;
  const days = product?.durationDays ?? null;
  return days === null ? null : new Date(from.getTime() + days * DAY_MS);
}

type IssueRepair = Extract<RepairFact, { readonly repair: 'issue' }>;

function listIssues({ repairs = [] }: PurchaseFacts): IssueRepair[] {
  return repairs.filter((each) => each.repair === 'issue');
}

/** Whether an operator issued what a payment sold. */
export function isIssued(facts: PurchaseFacts, { transactionId }: MergedPayment): boolean {
  return listIssues(facts).some((each) => each.transactionId === transactionId);
}

/** Returns the facts without effect whose events no operator has repaired. */
export function withoutRepaired({
  setAside,
  repairs = [],
}: PurchaseFacts): readonly SetAsideFact[] {
  const repaired = new Set(repairs.map(({ repairedEventId }) => repairedEventId));
  return setAside.filter(({ eventId }) => !repaired.has(eventId));
}

/** Replaces the address of a buyer by the one that an operator entered. */
export function repairCustomer(
  customer: CustomerDetails,
  { facts: { repairs = [] } }: Purchase,
): CustomerDetails {
  const addresses = repairs.flatMap((each) => (each.repair === 'address' ? [each.email] : []));
  const email = addresses.at(-1);
  return email === undefined ? customer : { ...customer, email };
}
