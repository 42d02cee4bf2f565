import { providerOf } from '@latchkey/contract';

import type { PaymentFact, SubscriptionFact } from '../facts.ts';
import type { PurchaseFacts } from './group-purchases.ts';
import { toPaidTime, type DraftUpdates } from './draft-updates.ts';
import { findDispute } from './money-back.ts';
import {
  findFirst,
  findPurchase,
  trackPaidLines,
  withoutSubscriptionOrders,
  type PaidLines,
} from './paid-lines.ts';
import { computePaidTime, type LinePayment, type OtherPeriod } from './paid-through.ts';
import { isPlausible, type Unit } from './list-units.ts';
import {
  computeCharges,
  computeOneTime,
  listRecurring,
  toSold,
  type LinePlace,
} from './compute-one-time.ts';
import { currentLine, type TrackedLine } from './track-lines.ts';

/** What a price sells: from the catalogue for a new sale, as sold for an existing one. */
export interface SoldProduct {
  readonly id: string;
  /** Null: as stored with the license, because the catalogue no longer has the product. */
  readonly tier: string | null;
  /** Null: as stored with the license. */
  readonly features: readonly string[] | null;
  /** For a quantity of 1. */
  readonly maxActivations: number;
  /** Whether a quantity of n is n licenses. Absent: one license for n times the machines. */
  readonly quantityAs?: 'keys';
  readonly durationDays: number | null;
  /** Days of updates; null: all. Absent: all. */
  readonly updatesDays?: number | null;
  /** Whether it sells updates of the product instead of a license; absent: a license. */
  readonly givesUpdates?: boolean;
  /** The end of a one-time license that does not follow from `durationDays`. Null: perpetual. */
  readonly endsAt?: Date | null;
}

/** The line that a price is looked up for. */
export interface LineContext {
  readonly transactionId: string;
  readonly lineKey: string;
  /** The place of the product in the bundle of the price; 0 for a price of one product. */
  readonly part: number;
  /** All prices that the line had. */
  readonly priceIds: ReadonlySet<string>;
  /** All plausible quantities that the line had, oldest first. */
  readonly quantities: readonly number[];
}

/** Finds what a price sells; null: neither the catalogue nor the sale knows it. */
export type FindProduct = (priceId: string, line?: LineContext) => SoldProduct | null;

/** Counts the products that a price sells: more than one for a bundle. */
export type CountParts = (
  priceId: string,
  line: Pick<LineContext, 'transactionId' | 'lineKey'>,
) => number;

/** A license from elsewhere that belongs to a purchase. */
export interface EarlierLicenses {
  /** Whether a license has the name of the subscription: then the state of the subscription counts without a payment, too. */
  readonly isNamed: boolean;
  /** Returns the end of the license from elsewhere of a line; null: it has none. */
  readonly findEnd: (line: LineContext) => Date | null;
  /** Lists the periods of a line that operators issued from its payments. Absent: none. */
  readonly listIssued?: (lineKey: string) => readonly OtherPeriod[];
}

const NO_EARLIER_LICENSES: EarlierLicenses = { isNamed: false, findEnd: () => null };

/** The computed license of a line of a purchase. */
export interface LicenseDraft {
  /** The transaction of the checkout, or of the oldest known payment of a subscription that began before. */
  readonly transactionId: string;
  /** The id of the checkout that the front end knows: the only one that the interface accepts. Null: it could be guessed. */
  readonly checkoutId: string | null;
  /**
   * Identifies the license within the purchase by the kind and order of its line: `recurring:0`, `once:1`. Further products of
   * a bundle follow with `+1`, further keys with `#2`; a one-time charge of a subscription is `charge:<transaction>:0`.
   */
  readonly lineKey: string;
  /** The index of the line in the checkout. */
  readonly position: number;
  /** The product of the line's newest price that is known; null if none of them is. */
  readonly product: SoldProduct | null;
  /** The price of the product, or else the newest one. */
  readonly priceId: string;
  /** Sold of this price. */
  readonly quantity: number;
  /** When the line was first paid, or else reported. */
  readonly soldAt: Date;
  /** The amount of the line, as paid; null if it is not reported. */
  readonly total: number | null;
  readonly subscription: boolean;
  /** Whether the line had other prices before. Default: false. */
  readonly hasChangedPrice?: boolean;
  /** The beginning of the newest period that was paid. Absent: `soldAt`. */
  readonly periodStartsAt?: Date;
  /** Whether the license has a grace period after its end: only paid periods of a subscription do. */
  readonly hasGrace: boolean;
  /** The end of the term or of the paid time; null for a perpetual license, never for a subscription. */
  readonly expiresAt: Date | null;
  readonly cancelScheduledFor: Date | null;
  readonly canceledAt: Date | null;
  readonly pausedAt: Date | null;
  readonly disputedAt: Date | null;
  readonly refundedAt: Date | null;
  /** The updates that the line pays; null: its license gets all. */
  readonly updates: DraftUpdates | null;
}

/**
 * Computes the licenses that a purchase should have: for each line one, or one for each product of a bundle and each key. A pure function of the facts, so that their
 * order of arrival makes no difference. A purchase without a payment and without an active subscription has no
 * licenses; a line whose prices are unknown has no product.
 */
export function computeLicenses(
  all: PurchaseFacts,
  findProduct: FindProduct,
  countParts: CountParts = () => 1,
  earlier = NO_EARLIER_LICENSES,
  paid: PaidLines = trackPaidLines(all),
): LicenseDraft[] {
  const facts = withoutSubscriptionOrders(all);
  const origin = findOrigin(facts) ?? (earlier.isNamed ? findSubscriptionName(facts) : null);
  if (origin === null) return [];
  const purchase = findPurchase(facts.payments);
  const context = { facts, origin, findProduct, countParts, earlier, paid };
  const oneTime =
    purchase === null ? [] : computeOneTime(context, { ...origin, payment: purchase });
  return [...oneTime, ...computeRecurring(context), ...computeCharges(context, purchase)];
}

/** Names of a purchase, and its first payment. */
export interface Origin {
  readonly transactionId: string;
  readonly checkoutId: string | null;
  readonly payment: PaymentFact | null;
}

export interface LicenseContext {
  readonly facts: PurchaseFacts;
  readonly origin: Origin;
  readonly findProduct: FindProduct;
  readonly countParts: CountParts;
  readonly earlier: EarlierLicenses;
  readonly paid: PaidLines;
}

const NO_SUBSCRIPTION = { cancelScheduledFor: null, canceledAt: null, pausedAt: null };

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
  // An imported subscription has its own name until a payment is known. At Dodo Payments that is the name of its checkout.
  const isImported =
    known?.transactionId === known?.subscriptionId && providerOf(facts.provider) !== 'dodo';
  if (known?.transactionId != null && !(isImported && first !== null)) {
    const { transactionId } = known;
    return { transactionId, checkoutId: transactionId, payment: first };
  }
  if (first === null) return null;
  const { transactionId } = first;
  // Lemon Squeezy numbers its invoices.
  const checkoutId = providerOf(facts.provider) === 'lemonsqueezy' ? null : transactionId;
  return { transactionId, checkoutId, payment: first };
}

/** Names a purchase of which only the subscription is known, for a license from elsewhere. */
function findSubscriptionName({ snapshots }: PurchaseFacts): Origin | null {
  const [first] = snapshots;
  if (first === undefined) return null;
  const transactionId = nameSubscription(first.subscriptionId);
  return { transactionId, checkoutId: null, payment: null };
}

/** Returns the name of a purchase without a known payment; ids of transactions contain no space. */
export function nameSubscription(subscriptionId: string): string {
  return `subscription ${subscriptionId}`;
}

/** Whether a key is that of a line of a subscription. */
export function isRecurringKey(lineKey: string): boolean {
  return lineKey.startsWith('recurring:');
}

function computeRecurring(context: LicenseContext): LicenseDraft[] {
  const { origin, paid } = context;
  const { bought } = paid;
  const lines = origin.payment?.lines ?? [];
  return [...paid.payments].flatMap(([tracked, payments], ordinal) => {
    const boughtLine = bought[ordinal];
    const position = boughtLine === undefined ? lines.length + ordinal : lines.indexOf(boughtLine);
    return computeRecurringLine(context, tracked, payments, {
      lineKey: `recurring:${ordinal}`,
      position,
    });
  });
}

function computeRecurringLine(
  { facts, origin, ...context }: LicenseContext,
  tracked: TrackedLine,
  payments: readonly LinePayment[],
  { lineKey, position }: LinePlace,
): LicenseDraft[] {
  const { transactionId, checkoutId } = origin;
  const priceIds = new Set(tracked.history.map(({ priceId }) => priceId));
  const quantities = tracked.history.map(({ quantity }) => quantity).filter(isPlausible);
  const named = { transactionId, lineKey, priceIds, quantities };
  const paid = computePaidTime(
    facts,
    tracked,
    payments,
    findEarlierEnd(facts, context, { ...named, part: 0 }),
    context.earlier.listIssued?.(lineKey) ?? [],
  );
  if (paid === null) return [];
  const state = readSubscription(facts.snapshots.at(-1) ?? null);
  const disputedAt = findDispute(
    payments.map(({ payment }) => payment),
    facts.adjustments,
    (payment) => payments.find((each) => each.payment === payment)?.line?.lineId ?? null,
  );
  return listRecurring(context, named, tracked, payments).map((unit) => {
    const sold = toSold(unit, currentLine(tracked));
    const ofPrice = payments.findLast((each) => each.line?.priceId === sold.priceId);
    return {
      transactionId,
      checkoutId,
      ...state,
      ...sold,
      lineKey: `${lineKey}${unit?.suffix ?? ''}`,
      position,
      soldAt: (origin.payment ?? facts.snapshots[0])?.occurredAt ?? paid.endsAt,
      total: unit === null || unit.suffix === '' ? (ofPrice?.line?.total ?? null) : null,
      subscription: true,
      ...readNewestPeriod(payments),
      ...(priceIds.size > 1 ? { hasChangedPrice: true } : {}),
      hasGrace: paid.hasGrace,
      expiresAt: paid.endsAt,
      canceledAt: tracked.removedAt ?? findRemoval(facts, unit) ?? state.canceledAt,
      disputedAt,
      refundedAt: paid.refundedAt,
      updates: toPaidTime(sold.product, paid, facts, payments, disputedAt),
    };
  });
}

function readNewestPeriod(payments: readonly LinePayment[]): Pick<LicenseDraft, 'periodStartsAt'> {
  const starts = payments.flatMap(
    ({ payment, line }) => (line?.period ?? payment.period)?.startsAt.getTime() ?? [],
  );
  return starts.length === 0 ? {} : { periodStartsAt: new Date(Math.max(...starts)) };
}

/** What was paid elsewhere counts as long as the beginning of the subscription is not known here. */
function findEarlierEnd(
  { payments }: PurchaseFacts,
  { earlier }: Pick<LicenseContext, 'earlier'>,
  line: LineContext,
): Date | null {
  return findPurchase(payments) === null ? earlier.findEnd(line) : null;
}

/** Returns when a line stopped to sell one of its licenses; null if it sells it. */
function findRemoval({ snapshots }: PurchaseFacts, unit: Unit | null): Date | null {
  const removedBy = unit?.removedBy ?? null;
  if (removedBy === null) return null;
  return snapshots.find(({ lines }) => lines.includes(removedBy))?.occurredAt ?? null;
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
