import type { Product } from '#server/config/catalog-model.ts';

import type { BillingLine, PaymentFact, SubscriptionFact } from '../facts.ts';
import type { PurchaseFacts } from './group-purchases.ts';
import { findDispute, findRefund } from './money-back.ts';
import { paidThrough } from './paid-through.ts';
import { currentLine, trackLines, type TrackedLine } from './track-lines.ts';

/** The computed license of a line of a purchase. */
export interface LicenseDraft {
  /** The transaction of the checkout. */
  readonly transactionId: string;
  /** The id of the checkout that the front end knows: the only one that the interface accepts. */
  readonly checkoutId: string;
  /** Identifies the line within the checkout by its kind and order: `recurring:0`, `once:1`. */
  readonly lineKey: string;
  /** The index of the line in the checkout. */
  readonly position: number;
  /** The product of the line's current price, or else of an earlier one; null if the catalogue has none of them. */
  readonly product: Product | null;
  readonly priceId: string;
  readonly quantity: number;
  readonly subscription: boolean;
  /** The end of the term or of the paid time; null for a perpetual license, never for a subscription. */
  readonly expiresAt: Date | null;
  readonly cancelScheduledFor: Date | null;
  readonly canceledAt: Date | null;
  readonly pausedAt: Date | null;
  readonly disputedAt: Date | null;
  readonly refundedAt: Date | null;
}

/** Finds the product of a price. */
type FindProduct = (priceId: string) => Product | null;

const DAY_MS = 86_400_000;

/**
 * Computes the licenses that a purchase should have, one for each line. A pure function of the facts, so that their
 * order of arrival makes no difference. A purchase without a payment and without an active subscription has no
 * licenses; a line whose prices were never in the catalogue has no product.
 */
export function computeLicenses(facts: PurchaseFacts, findProduct: FindProduct): LicenseDraft[] {
  const purchase = findPurchase(facts.payments);
  const transactionId = purchase?.transactionId ?? findCheckout(facts.snapshots);
  if (transactionId === null) return [];
  const disputedAt = findDispute(facts.payments, facts.adjustments);
  const oneTime = purchase === null ? [] : computeOneTime(facts, purchase, findProduct);
  const recurring = computeRecurring(facts, purchase, findProduct);
  const common = {
    transactionId,
    checkoutId: purchase?.checkoutId ?? transactionId,
    disputedAt,
  };
  return [...oneTime, ...recurring].map((draft) => ({ ...common, ...draft }));
}

type Draft = Omit<LicenseDraft, 'transactionId' | 'checkoutId' | 'disputedAt'>;

const NO_SUBSCRIPTION = { cancelScheduledFor: null, canceledAt: null, pausedAt: null };

/** Finds the checkout: the oldest purchase, because providers may report later charges as purchases too. */
function findPurchase(payments: readonly PaymentFact[]): PaymentFact | null {
  return payments.find(({ origin }) => origin === 'purchase') ?? null;
}

/** Finds the checkout in the oldest snapshot with a transaction; later snapshots may refer to later payments. */
function findCheckout(snapshots: readonly SubscriptionFact[]): string | null {
  return snapshots.find(({ transactionId }) => transactionId !== null)?.transactionId ?? null;
}

function computeOneTime(
  facts: PurchaseFacts,
  purchase: PaymentFact,
  findProduct: FindProduct,
): Draft[] {
  return purchase.lines
    .map((line, position) => ({ line, position }))
    .filter(({ line }) => line.cycle === null)
    .map(({ line, position }, ordinal) => {
      const product = findProduct(line.priceId);
      const durationDays = product?.durationDays ?? null;
      return {
        lineKey: `once:${ordinal}`,
        position,
        product,
        priceId: line.priceId,
        quantity: line.quantity,
        subscription: false,
        expiresAt: durationDays === null ? null : addDays(purchase.occurredAt, durationDays),
        refundedAt: findRefund(purchase, facts.adjustments, line.lineId),
        ...NO_SUBSCRIPTION,
      };
    });
}

function computeRecurring(
  facts: PurchaseFacts,
  purchase: PaymentFact | null,
  findProduct: FindProduct,
): Draft[] {
  const lines = purchase?.lines ?? [];
  const bought = lines.filter(({ cycle }) => cycle !== null);
  const newest = facts.snapshots.at(-1) ?? null;
  return trackLines(bought, facts.snapshots).flatMap((tracked, ordinal) => {
    const line = currentLine(tracked);
    const expiresAt = paidThrough(
      facts,
      findLast(tracked, ({ cycle }) => cycle),
    );
    if (expiresAt === null) return [];
    const boughtLine = bought[ordinal];
    const state = readSubscription(newest);
    return {
      ...state,
      lineKey: `recurring:${ordinal}`,
      position: boughtLine === undefined ? lines.length + ordinal : lines.indexOf(boughtLine),
      product: findLast(tracked, ({ priceId }) => findProduct(priceId)),
      priceId: line.priceId,
      quantity: line.quantity,
      subscription: true,
      expiresAt,
      canceledAt: tracked.removedAt ?? state.canceledAt,
      refundedAt: findRecurringRefund(facts, tracked, ordinal),
    };
  });
}

/** Returns the newest value in the history of a line that is not null. */
function findLast<Found>(
  { history }: TrackedLine,
  read: (line: BillingLine) => Found | null,
): Found | null {
  for (const line of history.toReversed()) {
    const found = read(line);
    if (found !== null) return found;
  }
  return null;
}

/** A full refund of the newest payment ends the license; a refund of an older payment has no effect. */
function findRecurringRefund(
  { payments, adjustments }: PurchaseFacts,
  tracked: TrackedLine,
  ordinal: number,
): Date | null {
  const newest = payments.findLast(({ origin }) => origin === 'purchase' || origin === 'renewal');
  if (newest === undefined) return null;
  const paid = newest.lines.filter(({ cycle }) => cycle !== null);
  const prices = new Set(tracked.history.map(({ priceId }) => priceId));
  const hasPrice = (line: BillingLine | undefined): boolean =>
    line !== undefined && prices.has(line.priceId);
  const line = hasPrice(paid[ordinal]) ? paid[ordinal] : paid.find(hasPrice);
  return findRefund(newest, adjustments, line?.lineId ?? null);
}

function readSubscription(
  subscription: SubscriptionFact | null,
): Pick<LicenseDraft, 'cancelScheduledFor' | 'canceledAt' | 'pausedAt'> {
  if (subscription === null) return NO_SUBSCRIPTION;
  const { status, scheduledChange, occurredAt } = subscription;
  return {
    cancelScheduledFor: scheduledChange?.action === 'cancel' ? scheduledChange.effectiveAt : null,
    // Defaults to the time of the event, because null would mean that the license is not canceled.
    canceledAt: status === 'canceled' ? (subscription.canceledAt ?? occurredAt) : null,
    pausedAt: status === 'paused' ? (subscription.pausedAt ?? occurredAt) : null,
  };
}

function addDays(from: Date, days: number): Date {
  return new Date(from.getTime() + days * DAY_MS);
}
