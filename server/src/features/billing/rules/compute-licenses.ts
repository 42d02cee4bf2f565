import type { BillingLine, PaymentFact, SubscriptionFact } from '../facts.ts';
import { findDispute, findRefund } from './money-back.ts';
import { paidThrough } from './paid-through.ts';
import type { FindProduct, LicenseDraft, PurchaseFacts } from './purchase.ts';

const DAY_MS = 86_400_000;

/**
 * What the licenses of a purchase are to be, one for each line that sells a product. A pure function of the facts, so
 * whatever order they came in, the end is the same. Nothing is made of a purchase of which neither a payment nor an active
 * subscription is known, nor of prices that the catalogue does not name.
 */
export function computeLicenses(facts: PurchaseFacts, findProduct: FindProduct): LicenseDraft[] {
  const purchase = findPurchase(facts.payments);
  const transactionId =
    purchase?.transactionId ?? facts.subscription?.transactionId ?? facts.opening?.transactionId;
  if (transactionId == null) return [];
  const disputedAt = findDispute(facts.payments, facts.adjustments);
  const common = { transactionId, disputedAt };
  const once = purchase === null ? [] : computeOnce(facts, purchase, findProduct);
  const recurring = computeRecurring(facts, purchase, findProduct);
  return [...once, ...recurring].map((draft) => ({ ...common, ...draft }));
}

type Draft = Omit<LicenseDraft, 'transactionId' | 'disputedAt'>;

const NO_SUBSCRIPTION = { cancelScheduledFor: null, canceledAt: null, pausedAt: null };

/** The checkout: the oldest purchase, should a provider count later charges as purchases, too. */
function findPurchase(payments: readonly PaymentFact[]): PaymentFact | null {
  const [first] = payments.filter(({ origin }) => origin === 'purchase').sort(byAge);
  return first ?? null;
}

function computeOnce(
  facts: PurchaseFacts,
  purchase: PaymentFact,
  findProduct: FindProduct,
): Draft[] {
  const lines = purchase.lines.filter(({ cycle }) => cycle === null);
  return lines.flatMap((line, ordinal) => {
    const product = findProduct(line.priceId);
    if (product === null) return [];
    const { durationDays } = product;
    return {
      lineKey: `once:${ordinal}`,
      product,
      maxActivations: product.maxActivations * line.quantity,
      subscription: false,
      expiresAt:
        durationDays === null
          ? null
          : new Date(purchase.occurredAt.getTime() + durationDays * DAY_MS),
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
  const bought = (purchase?.lines ?? []).filter(({ cycle }) => cycle !== null);
  const opened = facts.opening?.lines ?? [];
  // A subscription of which nothing but a failed or ended state is known has paid for nothing.
  if (bought.length === 0 && opened.length === 0) return [];
  const present = facts.subscription?.lines ?? (opened.length > 0 ? opened : bought);
  return present.flatMap((line, ordinal) => {
    const origin = bought[ordinal] ?? opened[ordinal];
    const product =
      findProduct(line.priceId) ?? (origin === undefined ? null : findProduct(origin.priceId));
    const expiresAt = paidThrough(facts, line.cycle ?? origin?.cycle ?? null);
    if (product === null || expiresAt === null) return [];
    return {
      lineKey: `recurring:${ordinal}`,
      product,
      maxActivations: product.maxActivations * line.quantity,
      subscription: true,
      expiresAt,
      refundedAt: findRecurringRefund(facts, purchase, origin),
      ...readSubscription(facts.subscription),
    };
  });
}

/** A full refund of the newest payment ends the license; one of an older payment is only recorded. */
function findRecurringRefund(
  facts: PurchaseFacts,
  purchase: PaymentFact | null,
  bought: BillingLine | undefined,
): Date | null {
  const newest = facts.payments
    .filter(({ origin }) => origin === 'purchase' || origin === 'renewal')
    .sort(byAge)
    .at(-1);
  if (newest === undefined) return null;
  const lineId = newest === purchase ? (bought?.lineId ?? null) : null;
  return findRefund(newest, facts.adjustments, lineId);
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

function byAge(a: PaymentFact, b: PaymentFact): number {
  const difference = a.occurredAt.getTime() - b.occurredAt.getTime();
  if (difference !== 0) return difference;
  return a.transactionId < b.transactionId ? -1 : 1;
}
