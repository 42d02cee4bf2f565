import type { BillingLine, PaymentFact, SubscriptionFact } from '../facts.ts';
import { assignPayments } from './assign-payments.ts';
import type { MergedPayment, PurchaseFacts } from './group-purchases.ts';
import { findDispute, findRefund } from './money-back.ts';
import { computePaidTime, type LinePayment } from './paid-through.ts';
import { currentLine, trackLines, type TrackedLine } from './track-lines.ts';

/** What a price sells: from the catalogue for a new sale, as sold for an existing one. */
export interface SoldProduct {
  readonly id: string;
  /** Null: as stored with the license, because the catalogue no longer has the product. */
  readonly tier: string | null;
  /** Null: as stored with the license. */
  readonly features: readonly string[] | null;
  /** For a quantity of 1. */
  readonly maxActivations: number;
  readonly durationDays: number | null;
  /** The end of a one-time license that does not follow from `durationDays`. Null: perpetual. */
  readonly endsAt?: Date | null;
}

/** The line that a price is looked up for. */
export interface LineContext {
  readonly transactionId: string;
  readonly lineKey: string;
  /** All prices that the line had. */
  readonly priceIds: ReadonlySet<string>;
  /** All plausible quantities that the line had, oldest first. */
  readonly quantities: readonly number[];
}

/** Finds what a price sells; null: neither the catalogue nor the sale knows it. */
export type FindProduct = (priceId: string, line?: LineContext) => SoldProduct | null;

/** The computed license of a line of a purchase. */
export interface LicenseDraft {
  /** The transaction of the checkout, or of the oldest known payment of a subscription that began before. */
  readonly transactionId: string;
  /** The id of the checkout that the front end knows: the only one that the interface accepts. Null: it could be guessed. */
  readonly checkoutId: string | null;
  /** Identifies the line within the checkout by its kind and order: `recurring:0`, `once:1`. */
  readonly lineKey: string;
  /** The index of the line in the checkout. */
  readonly position: number;
  /** The product of the line's newest price that is known; null if none of them is. */
  readonly product: SoldProduct | null;
  /** The price of the product, or else the newest one. */
  readonly priceId: string;
  /** Sold of this price. */
  readonly quantity: number;
  /** The amount of the line, as paid; null if it is not reported. */
  readonly total: number | null;
  readonly subscription: boolean;
  /** Whether the license has a grace period after its end: only paid periods of a subscription do. */
  readonly hasGrace: boolean;
  /** The end of the term or of the paid time; null for a perpetual license, never for a subscription. */
  readonly expiresAt: Date | null;
  readonly cancelScheduledFor: Date | null;
  readonly canceledAt: Date | null;
  readonly pausedAt: Date | null;
  readonly disputedAt: Date | null;
  readonly refundedAt: Date | null;
}

const DAY_MS = 86_400_000;
const MAX_QUANTITY = 1_000_000_000;

/** Whether a quantity can be sold: a whole number from 1 to a billion. */
export function isPlausible(quantity: number): boolean {
  return Number.isInteger(quantity) && quantity >= 1 && quantity <= MAX_QUANTITY;
}

/**
 * Computes the licenses that a purchase should have, one for each line. A pure function of the facts, so that their
 * order of arrival makes no difference. A purchase without a payment and without an active subscription has no
 * licenses; a line whose prices are unknown has no product.
 */
export function computeLicenses(all: PurchaseFacts, findProduct: FindProduct): LicenseDraft[] {
  const facts = withoutSubscriptionOrders(all);
  const origin = findOrigin(facts);
  if (origin === null) return [];
  const purchase = findPurchase(facts.payments);
  const context = { facts, origin, findProduct };
  const oneTime = purchase === null ? [] : computeOneTime(context, purchase);
  return [...oneTime, ...computeRecurring(context)];
}

/** Names of a purchase, and its first payment. */
interface Origin {
  readonly transactionId: string;
  readonly checkoutId: string | null;
  readonly payment: PaymentFact | null;
}

interface Context {
  readonly facts: PurchaseFacts;
  readonly origin: Origin;
  readonly findProduct: FindProduct;
}

const NO_SUBSCRIPTION = { cancelScheduledFor: null, canceledAt: null, pausedAt: null };

/**
 * At Lemon Squeezy an order of the variant of a subscription is the first payment of that subscription, and no sale of its
 * own.
 */
export function withoutSubscriptionOrders(facts: PurchaseFacts): PurchaseFacts {
  if (facts.provider !== 'lemonsqueezy') return facts;
  const variants = new Set(
    facts.snapshots.flatMap(({ lines }) => lines.map(({ priceId }) => `once:${priceId}`)),
  );
  const payments = facts.payments.map((payment) => ({
    ...payment,
    lines: payment.lines.filter(({ priceId }) => !variants.has(priceId)),
  }));
  return { ...facts, payments };
}

/** Finds the checkout: the oldest purchase, because providers may report later charges as purchases too. */
export function findPurchase(payments: readonly MergedPayment[]): MergedPayment | null {
  return payments.find(({ origin }) => origin === 'purchase') ?? null;
}

/** Finds the checkout, or else the oldest known renewal of a subscription that began before. */
export function findFirst(payments: readonly MergedPayment[]): MergedPayment | null {
  return findPurchase(payments) ?? payments.find(({ origin }) => origin === 'renewal') ?? null;
}

/**
 * Names a purchase by its checkout. A snapshot knows that of its subscription; later ones may refer to later payments. A
 * subscription that began before Latchkey has the name of its oldest known payment.
 */
function findOrigin(facts: PurchaseFacts): Origin | null {
  const purchase = findPurchase(facts.payments);
  const first = findFirst(facts.payments);
  const known = facts.snapshots.find(({ transactionId }) => transactionId !== null);
  if (purchase !== null) {
    const { transactionId, checkoutId = transactionId } = purchase;
    return { transactionId, checkoutId, payment: purchase };
  }
  // An imported subscription has its own name until a payment is known.
  const isImported = known?.transactionId === known?.subscriptionId;
  if (known?.transactionId != null && !(isImported && first !== null)) {
    const { transactionId } = known;
    return { transactionId, checkoutId: transactionId, payment: first };
  }
  if (first === null) return null;
  const { transactionId } = first;
  // Lemon Squeezy numbers its invoices.
  const checkoutId = facts.provider === 'lemonsqueezy' ? null : transactionId;
  return { transactionId, checkoutId, payment: first };
}

function computeOneTime({ facts, origin, findProduct }: Context, purchase: PaymentFact) {
  const { payments, adjustments } = facts;
  return purchase.lines
    .map((line, position) => ({ line, position }))
    .filter(({ line }) => line.cycle === null)
    .flatMap(({ line, position }, ordinal): LicenseDraft[] => {
      if (line.quantity === 0) return [];
      const { transactionId, checkoutId } = origin;
      const lineKey = `once:${ordinal}`;
      const priceIds = new Set([line.priceId]);
      const product = isPlausible(line.quantity)
        ? findProduct(line.priceId, {
            transactionId,
            lineKey,
            priceIds,
            quantities: [line.quantity],
          })
        : null;
      return [
        {
          transactionId,
          checkoutId,
          lineKey,
          position,
          product,
          priceId: line.priceId,
          quantity: line.quantity,
          total: line.total,
          subscription: false,
          hasGrace: false,
          expiresAt: endOfTerm(product, purchase.occurredAt),
          disputedAt: findDispute(
            payments.filter((payment) => payment === purchase),
            adjustments,
            () => line.lineId,
          ),
          refundedAt: findRefund(purchase, adjustments, line.lineId),
          ...NO_SUBSCRIPTION,
        },
      ];
    });
}

function endOfTerm(product: SoldProduct | null, from: Date): Date | null {
  if (product === null) return null;
  if (product.endsAt !== undefined) return product.endsAt;
  const { durationDays } = product;
  return durationDays === null ? null : new Date(from.getTime() + durationDays * DAY_MS);
}

function computeRecurring(context: Context): LicenseDraft[] {
  const { facts, origin } = context;
  const lines = origin.payment?.lines ?? [];
  const bought = lines.filter(({ cycle, quantity }) => cycle !== null && quantity !== 0);
  const all = trackLines(bought, facts.snapshots);
  const assigned = assignPayments(facts, all);
  return all.flatMap((tracked, ordinal) => {
    const boughtLine = bought[ordinal];
    const position = boughtLine === undefined ? lines.length + ordinal : lines.indexOf(boughtLine);
    const payments = assigned.get(tracked) ?? [];
    return computeRecurringLine(context, tracked, payments, { ordinal, position }) ?? [];
  });
}

function computeRecurringLine(
  { facts, origin, findProduct }: Context,
  tracked: TrackedLine,
  payments: readonly LinePayment[],
  { ordinal, position }: { readonly ordinal: number; readonly position: number },
): LicenseDraft | null {
  const paid = computePaidTime(facts, tracked, payments);
  if (paid === null) return null;
  const { transactionId, checkoutId } = origin;
  const lineKey = `recurring:${ordinal}`;
  const priceIds = new Set(tracked.history.map(({ priceId }) => priceId));
  const quantities = tracked.history.map(({ quantity }) => quantity).filter(isPlausible);
  const context = { transactionId, lineKey, priceIds, quantities };
  const sold = findSold(tracked, (priceId) => findProduct(priceId, context));
  const line = sold?.line ?? currentLine(tracked);
  const state = readSubscription(facts.snapshots.at(-1) ?? null);
  return {
    transactionId,
    checkoutId,
    ...state,
    lineKey,
    position,
    product: sold?.product ?? null,
    priceId: line.priceId,
    quantity: line.quantity,
    total: payments.findLast((each) => each.line?.priceId === line.priceId)?.line?.total ?? null,
    subscription: true,
    hasGrace: paid.hasGrace,
    expiresAt: paid.endsAt,
    canceledAt: tracked.removedAt ?? state.canceledAt,
    disputedAt: findDispute(
      payments.map(({ payment }) => payment),
      facts.adjustments,
      (payment) => payments.find((each) => each.payment === payment)?.line?.lineId ?? null,
    ),
    refundedAt: paid.refundedAt,
  };
}

/** Finds the newest state of a line that has a product and a plausible quantity: both are of the same state. */
function findSold(
  { history }: TrackedLine,
  findProduct: (priceId: string) => SoldProduct | null,
): { readonly line: BillingLine; readonly product: SoldProduct } | null {
  for (const line of history.toReversed()) {
    const product = isPlausible(line.quantity) ? findProduct(line.priceId) : null;
    if (product !== null) return { line, product };
  }
  return null;
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
