import type { BillingLine, PaymentFact, SubscriptionFact } from '../facts.ts';
import { findDispute, findRefund } from './money-back.ts';
import { paidThrough } from './paid-through.ts';
import type { FindProduct, LicenseDraft, PurchaseFacts } from './purchase.ts';
import { presentLine, trackLines, type TrackedLine } from './track-lines.ts';

const DAY_MS = 86_400_000;

/**
 * What the licenses of a purchase are to be, one for each line. A pure function of the facts, so whatever order they came
 * in, the end is the same. Nothing is made of a purchase of which neither a payment nor an active subscription is known;
 * a line whose prices the catalogue never named has no product.
 */
export function computeLicenses(facts: PurchaseFacts, findProduct: FindProduct): LicenseDraft[] {
  const purchase = findPurchase(facts.payments);
  const transactionId = purchase?.transactionId ?? findCheckout(facts.snapshots);
  if (transactionId === null) return [];
  const disputedAt = findDispute(facts.payments, facts.adjustments);
  const once = purchase === null ? [] : computeOnce(facts, purchase, findProduct);
  const recurring = computeRecurring(facts, purchase, findProduct);
  const common = {
    transactionId,
    checkoutId: purchase?.checkoutId ?? transactionId,
    disputedAt,
  };
  return [...once, ...recurring].map((draft) => ({ ...common, ...draft }));
}

type Draft = Omit<LicenseDraft, 'transactionId' | 'checkoutId' | 'disputedAt'>;

const NO_SUBSCRIPTION = { cancelScheduledFor: null, canceledAt: null, pausedAt: null };

/** The checkout: the oldest purchase, should a provider count later charges as purchases, too. */
function findPurchase(payments: readonly PaymentFact[]): PaymentFact | null {
  return payments.find(({ origin }) => origin === 'purchase') ?? null;
}

/** The checkout that a subscription's oldest snapshot names; later ones may name a later payment. */
function findCheckout(snapshots: readonly SubscriptionFact[]): string | null {
  return snapshots.find(({ transactionId }) => transactionId !== null)?.transactionId ?? null;
}

function computeOnce(
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
    const line = presentLine(tracked);
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

/** What the newest form of a line says that says anything. */
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

/** A full refund of the newest payment ends the license; one of an older payment is only recorded. */
function findRecurringRefund(
  { payments, adjustments }: PurchaseFacts,
  tracked: TrackedLine,
  ordinal: number,
): Date | null {
  const newest = payments.findLast(({ origin }) => origin === 'purchase' || origin === 'renewal');
  if (newest === undefined) return null;
  const paid = newest.lines.filter(({ cycle }) => cycle !== null);
  const prices = new Set(tracked.history.map(({ priceId }) => priceId));
  const fits = (line: BillingLine | undefined): boolean =>
    line !== undefined && prices.has(line.priceId);
  const line = fits(paid[ordinal]) ? paid[ordinal] : paid.find(fits);
  return findRefund(newest, adjustments, line?.lineId ?? null);
}

function readSubscription(
  subscription: SubscriptionFact | null,
): Pick<LicenseDraft, 'cancelScheduledFor' | 'canceledAt' | 'pausedAt'> {
  if (subscription === null) return NO_SUBSCRIPTION;
  const { status, scheduledChange, occurredAt } = subscription;
  return {
    cancelScheduledFor: scheduledChange?.action === 'cancel' ? scheduledChange.effectiveAt : null,
    // Without a moment of its own it is the moment when it was told: never none, which would be for ever.
    canceledAt: status === 'canceled' ? (subscription.canceledAt ?? occurredAt) : null,
    pausedAt: status === 'paused' ? (subscription.pausedAt ?? occurredAt) : null,
  };
}

function addDays(from: Date, days: number): Date {
  return new Date(from.getTime() + days * DAY_MS);
}
