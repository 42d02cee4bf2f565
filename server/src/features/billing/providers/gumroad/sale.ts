import {
  LINKING_PAYMENT,
  type AdjustmentFact,
  type BillingCycle,
  type BillingLine,
  type BillingPeriod,
  type CustomerDetails,
  type PaymentFact,
  type SubscriptionFact,
} from '../../facts.ts';
import { addCycle } from '../../rules/billing-cycle.ts';
import { ATTENTION_PREFIX } from '../../rules/event-state.ts';
import { MalformedEventError, type Interpretation, type ProviderEvent } from '../adapter.ts';
import {
  readCountry,
  readEmail,
  readId,
  readInteger,
  readObject,
  readQuantity,
  readText,
  readTime,
  type JsonObject,
} from '../fields.ts';

const GIFT = 'It is a gift: the sale of its recipient creates the license.';

/** What an operator has to do once the money of a gift went back. */
export const GIFT_TAKEN_BACK = `${ATTENTION_PREFIX}the buyer of a gift was refunded or disputes it. Suspend or revoke the license of its recipient, and dismiss this event.`;

const NO_RECURRENCE =
  'Gumroad reported no known recurrence of the membership. Extend or issue the license by hand.';

/** What the sale of a membership has in addition. */
interface Membership {
  readonly subscriptionId: string;
  /** Null: of an unknown kind. */
  readonly cycle: BillingCycle | null;
  readonly period: BillingPeriod | null;
}

/** Reads a sale as Gumroad's API returned it. */
export function readSale(event: ProviderEvent): Interpretation {
  const sale = readObject(event.data['sale']);
  if (sale['is_preorder_authorization'] === true) return 'A preorder is not paid yet.';
  const { transactionId, occurredAt, productId } = readIds(sale, event);
  const paid = { ...readPaid(sale), transactionId, occurredAt };
  const moneyBack = readMoneyBack(sale, transactionId, event);
  // The money of a gift is the buyer's, and its license that of another sale.
  if (sale['is_gift_sender_purchase'] === true) {
    return { facts: [paid, ...moneyBack], ignoredBecause: GIFT };
  }
  const membership = readMembership(sale, readObject(event.data['membership']), occurredAt);
  const line = toLine(sale, productId, membership);
  const payment: PaymentFact = {
    ...paid,
    origin: readOrigin(sale),
    subscriptionId: membership?.subscriptionId ?? null,
    period: membership?.period ?? null,
    ...(line === null ? { lines: [], problem: NO_RECURRENCE } : { lines: [line] }),
  };
  return [payment, ...toStart(payment, membership), ...moneyBack];
}

/** @throws MalformedEventError */
function readIds(sale: JsonObject, event: ProviderEvent) {
  const transactionId = readId(sale['id']);
  const occurredAt = readTime(sale['created_at']);
  const productId = readId(sale['product_id']);
  if (transactionId === null || occurredAt === null || productId === null) {
    throw new MalformedEventError('The sale lacks id, created_at or product_id.', event);
  }
  return { transactionId, occurredAt, productId };
}

function readPaid(sale: JsonObject): Omit<PaymentFact, 'transactionId' | 'occurredAt'> {
  return {
    ...LINKING_PAYMENT,
    customerId: readId(sale['purchaser_id']),
    customer: readBuyer(sale),
    // Gumroad reports amounts in cents of US dollars, whatever the product's currency is.
    total: readInteger(sale['price']),
    currency: 'USD',
    ...readFee(sale['gumroad_fee']),
    ...readCountry(sale['country_iso2']),
  };
}

function readFee(value: unknown): { readonly fee?: number } {
  const fee = readInteger(value);
  return fee === null ? {} : { fee };
}

function readOrigin(sale: JsonObject): PaymentFact['origin'] {
  if (sale['is_upgrade_purchase'] === true) return 'change';
  return sale['recurring_charge'] === true ? 'renewal' : 'purchase';
}

const CYCLES: ReadonlyMap<unknown, BillingCycle> = new Map([
  ['monthly', { interval: 'month', frequency: 1 }],
  ['quarterly', { interval: 'month', frequency: 3 }],
  ['biannually', { interval: 'month', frequency: 6 }],
  ['yearly', { interval: 'year', frequency: 1 }],
  ['every_two_years', { interval: 'year', frequency: 2 }],
]);

/** Gumroad reports no paid period: it is computed from the time of the charge and the recurrence. */
function readMembership(sale: JsonObject, details: JsonObject, chargedAt: Date): Membership | null {
  const subscriptionId = readId(sale['subscription_id']);
  if (subscriptionId === null) return null;
  const cycle =
    CYCLES.get(sale['subscription_duration']) ?? CYCLES.get(details['recurrence']) ?? null;
  const trialEndsAt = readTime(details['free_trial_ends_at']);
  const isTrial = sale['price'] === 0 && sale['recurring_charge'] !== true;
  const cycleEnd = cycle === null ? null : addCycle(chargedAt, cycle);
  const endsAt = isTrial && trialEndsAt !== null ? trialEndsAt : cycleEnd;
  const period = endsAt === null || endsAt <= chargedAt ? null : { startsAt: chargedAt, endsAt };
  return { subscriptionId, cycle, period };
}

/** Null: the recurrence of the membership is unknown. */
function toLine(
  sale: JsonObject,
  productId: string,
  membership: Membership | null,
): BillingLine | null {
  if (membership !== null && membership.cycle === null) return null;
  return {
    // The tier of a membership changes; its subscription does not.
    lineId: membership?.subscriptionId ?? productId,
    priceId: toPriceId(productId, sale['variants']),
    quantity: readQuantity(sale['quantity']),
    cycle: membership?.cycle ?? null,
    total: readInteger(sale['price']),
  };
}

const MAX_OPTION_CHARACTERS = 100;

/** Names a product with the chosen options: `<product id>:Pro`. Other characters than letters, digits and `-_.!~*'()` are encoded. */
function toPriceId(productId: string, variants: unknown): string {
  const options = Object.values(readObject(variants)).flatMap(
    (option) => readText(option, MAX_OPTION_CHARACTERS) ?? [],
  );
  return [productId, ...options.map(encodeURIComponent)].join(':');
}

/** The membership at the time of its charge, with the tier that was charged. */
function toStart(payment: PaymentFact, membership: Membership | null): SubscriptionFact[] {
  if (membership === null || membership.cycle === null) return [];
  const { customerId, customer, occurredAt, period, lines, total } = payment;
  return [
    {
      kind: 'subscription',
      subscriptionId: membership.subscriptionId,
      transactionId: null,
      customerId,
      customer,
      occurredAt,
      status: total === 0 ? 'trialing' : 'active',
      period,
      pausedAt: null,
      canceledAt: null,
      scheduledChange: null,
      lines,
    },
  ];
}

/** The address of the checkout, which is the recipient's for a gift; that of the buyer's account may be another one. */
function readBuyer(sale: JsonObject): CustomerDetails {
  return {
    email: readEmail(sale['purchase_email']) ?? readEmail(sale['email']),
    name: readText(sale['full_name']),
    locale: null,
  };
}

/** Reads the refund and the dispute of a sale. The time is that of the look-up, because Gumroad reports none. */
function readMoneyBack(
  sale: JsonObject,
  transactionId: string,
  { occurredAt }: ProviderEvent,
): AdjustmentFact[] {
  const common = { kind: 'adjustment', transactionId, occurredAt, total: null, lines: [] } as const;
  const refunded = readRefunded(sale);
  const isRefunded = sale['refunded'] === true;
  const refund: AdjustmentFact = {
    ...common,
    adjustmentId: `refund:${transactionId}`,
    effect: 'refund',
    status: 'approved',
    full: isRefunded,
    ...(isRefunded || refunded === null ? {} : { total: refunded, currency: 'USD' }),
  };
  const dispute: AdjustmentFact = {
    ...common,
    adjustmentId: `dispute:${transactionId}`,
    effect: 'chargeback',
    // A dispute that is won is reversed under its own id.
    status: sale['chargedback'] === true ? 'approved' : 'reversed',
    full: null,
  };
  return [
    ...(isRefunded || sale['partially_refunded'] === true ? [refund] : []),
    ...(sale['chargedback'] === true || sale['disputed'] === true ? [dispute] : []),
  ];
}

/** Such as `1999.50`: amounts have at most two decimals. */
const DECIMAL = /^\d{1,9}(?:\.\d{1,2})?$/;

/**
 * Reads how much of a sale was paid back, in cents of dollars; null if it is not known. Gumroad reports what can still be refunded in
 * the currency of the product, and the price in dollars: in another currency it is the same share of the price that buyers saw.
 */
function readRefunded(sale: JsonObject): number | null {
  const price = readInteger(sale['price']);
  const left = readDecimal(readText(sale['amount_refundable_in_currency']));
  if (price === null || left === null) return null;
  const displayed = sale['currency_symbol'] === '$' ? price / 100 : readDisplayed(sale);
  if (displayed === null || displayed <= 0) return null;
  const refunded = price - Math.round((price * left) / displayed);
  return refunded > 0 ? refunded : null;
}

function readDecimal(text: string | null): number | null {
  return text !== null && DECIMAL.test(text) ? Number(text) : null;
}

/** Reads a price such as `€1,999.50 a month`. */
function readDisplayed(sale: JsonObject): number | null {
  const symbol = readText(sale['currency_symbol']);
  const text = readText(sale['formatted_display_price']);
  if (symbol === null || text === null || !text.startsWith(symbol)) return null;
  const [amount = ''] = text.slice(symbol.length).trim().split(' ');
  return readDecimal(amount.replaceAll(',', ''));
}
