/** The licenses that operators issued from payments. */
import { providerOf } from '@latchkey/contract';

import { LINKING_PAYMENT, type BillingPeriod, type RepairFact } from '../facts.ts';
import { addCycle } from './billing-cycle.ts';
import type { FindProduct, LicenseDraft, SoldProduct } from './compute-licenses.ts';
import { toDays, type DraftUpdates } from './draft-updates.ts';
import type { PurchaseFacts } from './group-purchases.ts';
import type { MergedPayment } from './merge-versions.ts';
import { findDispute, findRefund } from './money-back.ts';
import type { OtherPeriod } from './paid-through.ts';

/** Starts the price of a product that an operator issued from an event; its id follows. */
export const PRODUCT_PREFIX = 'product:';

/** Starts the key of a license that an operator issued. */
const ISSUED_PREFIX = 'issued:';

/** Whether a key is that of a license that an operator issued. */
export function isIssuedKey(lineKey: string): boolean {
  return lineKey.startsWith(ISSUED_PREFIX);
}

/** After the lines of any checkout. */
const FIRST_POSITION = 10_000;

const DAY_MS = 86_400_000;

type IssueRepair = Extract<RepairFact, { readonly repair: 'issue' }>;

/** A license that an operator issued, also from several payments of one subscription. */
export interface IssuedLicense {
  readonly draft: LicenseDraft;
  /** Its keys, one for each payment: it may have been created under any of them. */
  readonly lineKeys: readonly string[];
  /** The periods that the payments of a subscription pay; null: they are of no subscription, or of one that had ended. */
  readonly periods: readonly OtherPeriod[] | null;
  /** Whether one of the payments has several lines that recur. */
  readonly isOfOneOfSeveral: boolean;
}

/** A payment that an operator issued a license from. */
interface IssuedPayment {
  readonly repair: IssueRepair;
  readonly payment: MergedPayment;
  /** When what it sold ends; null: never. */
  readonly endsAt: Date | null;
  readonly refundedAt: Date | null;
  readonly disputedAt: Date | null;
}

/**
 * Computes the licenses that operators issued from payments: one for each product, with the newest quantity. Those that were issued
 * from payments of one subscription are one license.
 */
export function computeIssued(facts: PurchaseFacts, findProduct: FindProduct): IssuedLicense[] {
  const newest = new Map(
    listIssues(facts).map((each) => [nameIssue(each), { ...each, lineKey: nameIssue(each) }]),
  );
  const paid = [...newest.values()].map((repair) => ({
    repair,
    payment: findPayment(facts, repair),
  }));
  const groups = Map.groupBy(paid, ({ repair, payment }) => {
    const isRecurring = isOfSubscription(facts, payment);
    if (!isRecurring) return repair.lineKey;
    return `${repair.productId} ${isAfterEnd(facts, payment) ? 'after' : ''}`;
  });
  return [...groups.values()].flatMap((group, index) => {
    const [first] = group;
    return first === undefined ? [] : [toIssued(facts, first, group, index, findProduct)];
  });
}

function nameIssue({ transactionId, productId }: IssueRepair): string {
  return `${ISSUED_PREFIX}${transactionId}:${productId}`;
}

/** A payment that cannot be right is set aside, but can be paid back; one of an event that failed has ids only. */
function findPayment(
  { payments, setAside, paidBack = [] }: PurchaseFacts,
  { transactionId, occurredAt, repairedEventId }: IssueRepair,
): MergedPayment {
  const known = [...payments, ...setAside.flatMap(({ payment }) => payment ?? []), ...paidBack];
  return (
    known.find((each) => each.transactionId === transactionId) ?? {
      ...LINKING_PAYMENT,
      transactionId,
      occurredAt,
      eventId: repairedEventId,
    }
  );
}

/** Whether a payment is of a subscription: by its lines, else by what it belongs to. */
export function isOfSubscription(
  { snapshots }: Pick<PurchaseFacts, 'snapshots'>,
  { lines, subscriptionId }: Pick<MergedPayment, 'lines' | 'subscriptionId'>,
): boolean {
  if (lines.length > 0) return lines.some(({ cycle }) => cycle !== null);
  return subscriptionId !== null || snapshots.length > 0;
}

/** What was paid after the end of a subscription does not renew it. */
function isAfterEnd({ snapshots }: PurchaseFacts, { occurredAt }: MergedPayment): boolean {
  const newest = snapshots.at(-1);
  if (newest?.status !== 'canceled') return false;
  return occurredAt > (newest.canceledAt ?? newest.occurredAt);
}

interface Issue {
  readonly repair: IssueRepair & { readonly lineKey: string };
  readonly payment: MergedPayment;
}

function toIssued(
  facts: PurchaseFacts,
  { repair, payment }: Issue,
  group: readonly Issue[],
  index: number,
  findProduct: FindProduct,
): IssuedLicense {
  const quantity = group.at(-1)?.repair.quantity ?? repair.quantity;
  const { transactionId, productId, lineKey } = repair;
  const priceId = `${PRODUCT_PREFIX}${productId}`;
  const line = { transactionId, lineKey, part: 0, priceIds: new Set([priceId]) };
  const product = findProduct(priceId, { ...line, quantities: [quantity] });
  const isRecurring = isOfSubscription(facts, payment);
  const paid = group.map((each) => toPaid(facts, each, product));
  const state = combine(paid);
  return {
    lineKeys: group.map((each) => each.repair.lineKey),
    periods: isRecurring && !isAfterEnd(facts, payment) ? paid.flatMap(toPeriod) : null,
    isOfOneOfSeveral: group.some((each) => countRecurring(each.payment) > 1),
    draft: {
      transactionId,
      checkoutId: findCheckoutId(facts, payment),
      lineKey,
      position: FIRST_POSITION + index,
      product,
      priceId,
      quantity,
      soldAt: payment.occurredAt,
      total: payment.total,
      subscription: isRecurring && state.expiresAt !== null,
      hasGrace: isRecurring && state.expiresAt !== null,
      cancelScheduledFor: null,
      canceledAt: null,
      pausedAt: null,
      ...state,
      updates: toUpdates(product, payment, state, isRecurring),
    },
  };
}

function toPaid(
  { snapshots, adjustments }: PurchaseFacts,
  { repair, payment }: Issue,
  product: SoldProduct | null,
): IssuedPayment {
  return {
    repair,
    payment,
    endsAt: endOfIssued(payment, product, isOfSubscription({ snapshots }, payment)),
    refundedAt: findRefund(payment, adjustments, null),
    disputedAt: findDispute([payment], adjustments, () => null),
  };
}

/**
 * Returns when an issued license ends: of a subscription with the period that the payment names, or else after one term of the
 * product, or else one billing cycle. Null: never, or, of a subscription, it is not known.
 */
export function endOfIssued(
  { period, lines, occurredAt }: Pick<MergedPayment, 'period' | 'lines' | 'occurredAt'>,
  product: Pick<SoldProduct, 'endsAt' | 'durationDays'> | null,
  isRecurring: boolean,
): Date | null {
  const paid = [period, ...lines.map((line) => line.period ?? null)].find(isValid);
  if (isRecurring && paid != null) return paid.endsAt;
  if (product?.endsAt !== undefined) return product.endsAt;
  const days = product?.durationDays ?? null;
  if (days !== null) return new Date(occurredAt.getTime() + days * DAY_MS);
  const cycle = lines.find((line) => line.cycle !== null)?.cycle ?? null;
  return isRecurring && cycle !== null ? addCycle(occurredAt, cycle) : null;
}

function isValid(period: BillingPeriod | null): boolean {
  return period !== null && period.endsAt > period.startsAt;
}

type State = Pick<LicenseDraft, 'expiresAt' | 'refundedAt' | 'disputedAt'>;

/** A license ends with the last payment that was not paid back; if all were, it is refunded. */
function combine(paid: readonly IssuedPayment[]): State {
  const kept = paid.filter(({ refundedAt }) => refundedAt === null);
  const disputes = paid.flatMap(({ disputedAt }) => disputedAt ?? []);
  const refunds = kept.length > 0 ? [] : paid.flatMap(({ refundedAt }) => refundedAt ?? []);
  return {
    expiresAt: findLatest(kept.length > 0 ? kept : paid),
    refundedAt: refunds.length === 0 ? null : latest(refunds),
    disputedAt: disputes.length === 0 ? null : earliest(disputes),
  };
}

function findLatest(paid: readonly IssuedPayment[]): Date | null {
  const ends = paid.flatMap(({ endsAt }) => endsAt ?? []);
  return ends.length < paid.length || ends.length === 0 ? null : latest(ends);
}

function latest(times: readonly Date[]): Date {
  return new Date(Math.max(...times.map((time) => time.getTime())));
}

function earliest(times: readonly Date[]): Date {
  return new Date(Math.min(...times.map((time) => time.getTime())));
}

function toPeriod({ payment, endsAt, refundedAt }: IssuedPayment): OtherPeriod[] {
  const { occurredAt, transactionId } = payment;
  if (endsAt === null) return [];
  return [{ startsAt: occurredAt, endsAt, paidAt: payment, transactionId, refundedAt }];
}

function toUpdates(
  product: SoldProduct | null,
  { occurredAt }: MergedPayment,
  { expiresAt, refundedAt, disputedAt }: State,
  isRecurring: boolean,
): DraftUpdates | null {
  const updates = toDays(product, occurredAt, refundedAt ?? disputedAt);
  if (updates === null || !isRecurring || expiresAt === null) return updates;
  return { ...updates, days: null, endsAt: expiresAt };
}

/** Lemon Squeezy numbers its invoices: their ids could be guessed. */
function findCheckoutId({ provider }: PurchaseFacts, payment: MergedPayment): string | null {
  const { transactionId, checkoutId = transactionId, origin } = payment;
  return providerOf(provider) === 'lemonsqueezy' && origin !== 'purchase' ? null : checkoutId;
}

function countRecurring({ lines }: MergedPayment): number {
  return lines.filter(({ cycle }) => cycle !== null).length;
}

function listIssues({ repairs = [] }: PurchaseFacts): IssueRepair[] {
  return repairs.filter((each) => each.repair === 'issue');
}

/** Whether an operator issued what a payment sold. */
export function isIssued(facts: PurchaseFacts, { transactionId }: MergedPayment): boolean {
  return listIssues(facts).some((each) => each.transactionId === transactionId);
}

/**
 * Lists the prices of subscriptions that operators issued a product for, with the product: the next payment of the subscription sells
 * the same. A payment with several lines, or of another quantity than was issued, does not say which.
 */
export function listIssuedPrices(facts: PurchaseFacts): [priceId: string, productId: string][] {
  return listIssues(facts).flatMap((repair): [string, string][] => {
    const [line, ...others] = findPayment(facts, repair).lines;
    if (line === undefined || others.length > 0 || line.cycle === null) return [];
    return line.quantity === repair.quantity ? [[line.priceId, repair.productId]] : [];
  });
}
