/** Facts about payments, translated from the events of providers. Facts are stored as JSON. */
import type { PaymentSource } from '@latchkey/contract';
import { Type, type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/schema';

/** The payment providers, named as in the catalogue's prices, and their test modes. */
export type BillingProvider = PaymentSource;

/** Identifies an event; each provider numbers its own. */
export interface EventKey {
  readonly provider: BillingProvider;
  /** The same at each delivery; at most 200 characters. */
  readonly eventId: string;
}

/** The metadata of an event. */
export interface EventHeader extends EventKey {
  /** As named by the provider, such as `transaction.completed`. */
  readonly type: string;
  readonly occurredAt: Date;
}

/**
 * An event of any provider, translated into facts. One event may contain several: Paddle's `transaction.completed` is a
 * payment, Stripe's `charge.refunded` one or more refunds.
 */
export interface BillingEvent extends EventHeader {
  readonly facts: readonly BillingFact[];
  /** Why the event has no effect; null if it has one. A sentence for people. */
  readonly ignoredBecause: string | null;
  /** The event has no facts, because it is not signed: they are looked up at the provider. Absent: it has its facts. */
  readonly requiresLookUp?: true;
}

const Text = Type.String();
const NullableText = orNull(Text);
const Time = Type.Refine(Type.Unsafe<Date>({}), (value) => value instanceof Date);

/** In the currency's smallest unit, tax included; null if the provider does not report it. */
const Amount = orNull(Type.Number());

function orNull<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/** Belongs to a total; amounts are in the smallest unit of the currency. */
const money = {
  /** Three upper-case letters (ISO 4217). Absent: not reported. */
  currency: Type.Optional(Text),
  /** The tax that the total contains. Absent: not reported. */
  tax: Type.Optional(Type.Number()),
};

const word = {
  /** The provider's own word for the origin, status or action, such as `past_due`. Absent: it has none. */
  reported: Type.Optional(Text),
};

type DeepReadonly<Value> = Value extends Date
  ? Value
  : { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> };

const occurrence = {
  occurredAt: Time,
  /** Nanoseconds to add to `occurredAt`; 0 when absent. */
  occurredNanos: Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999 })),
};
const Occurrence = Type.Object(occurrence);

/**
 * When something occurred, as precisely as the provider reports it: Paddle and Lemon Squeezy write microseconds, Stripe
 * whole seconds. Order facts by `compareOccurrences`, never by `occurredAt` alone.
 */
export type Occurrence = DeepReadonly<Static<typeof Occurrence>>;

const Period = Type.Object({ startsAt: Time, endsAt: Time });

/** A billing period, paid or due. */
export type BillingPeriod = DeepReadonly<Static<typeof Period>>;

export const INTERVALS = ['day', 'week', 'month', 'year'] as const;

const Cycle = Type.Object({ interval: Type.Enum(INTERVALS), frequency: Type.Integer() });

/** The billing interval of a recurring price. */
export type BillingCycle = DeepReadonly<Static<typeof Cycle>>;

const Line = Type.Object({
  /** The provider's id of the line item, or else of its price. Identifies the license that was created for the line. */
  lineId: Text,
  priceId: Text,
  /** 0: nothing is sold. `UNREADABLE_QUANTITY`, fractions and negative numbers are reported and sell nothing. */
  quantity: Type.Number(),
  /** Null for a one-time price. */
  cycle: orNull(Cycle),
  total: Amount,
  /** The line's own period, if lines have different ones. Absent: that of the payment or subscription. */
  period: Type.Optional(orNull(Period)),
});

/** The quantity of a line whose event contains no plausible number. */
export const UNREADABLE_QUANTITY = -1;

const Proration = Type.Object({
  lineId: Text,
  priceId: Text,
  /** Whether the rest of a paid period is paid back, because another line replaces it. */
  isCredit: Type.Boolean(),
  period: Period,
});

/** A line item of a purchase or a subscription. */
export type BillingLine = DeepReadonly<Static<typeof Line>>;

const Customer = Type.Object({
  email: NullableText,
  name: NullableText,
  /** A language tag (BCP 47), such as `de` or `pt-BR`. */
  locale: NullableText,
});

/** A buyer, as far as known. */
export type CustomerDetails = DeepReadonly<Static<typeof Customer>>;

export const UNKNOWN_CUSTOMER: CustomerDetails = { email: null, name: null, locale: null };

const order = {
  /** The license that the purchase renews or upgrades: its id, or its key, encrypted. Absent: it creates licenses. */
  renews: Type.Optional(Text),
  /**
   * Who gets the licenses as a gift; without an address if that is invalid, or if the person was erased, so that nobody gets
   * them. Absent: the payer.
   */
  recipient: Type.Optional(
    Type.Object({
      email: NullableText,
      name: NullableText,
      isErased: Type.Optional(Type.Literal(true)),
    }),
  ),
};

const Payment = Type.Object({
  kind: Type.Literal('payment'),
  ...occurrence,
  transactionId: Text,
  /**
   * Further ids that the provider's other events use for this payment, such as Stripe's payment intent for an invoice.
   * The aliases of all events about a payment apply, in any order. They may be guessable, so the interface accepts none
   * of them.
   */
  aliases: Type.Optional(Type.Array(Text)),
  /** The id of the checkout that the front end knows, if it differs; it cannot be guessed. */
  checkoutId: Type.Optional(Text),
  subscriptionId: NullableText,
  /**
   * `purchase` creates licenses; `renewal` extends them; `change` is charged within a period; `other` is only recorded.
   */
  origin: Type.Enum(['purchase', 'renewal', 'change', 'other']),
  customerId: NullableText,
  customer: Customer,
  /** The period paid for; null if not reported (the term of a purchase then comes from its subscription). */
  period: orNull(Period),
  lines: Type.Array(Line),
  ...order,
  /** Credits and charges for a change within a period. */
  prorations: Type.Optional(Type.Array(Proration)),
  /** What an operator has to know about the payment: a sentence. Absent: nothing. */
  problem: Type.Optional(Text),
  total: Amount,
  /**
   * What a part of a split order adds to revenue. It is no total, because a return names the order and may be of another
   * part. Absent: the order is not split.
   */
  part: Type.Optional(Type.Object({ total: Type.Number(), tax: Type.Optional(Type.Number()) })),
  ...money,
  /** What the provider keeps of the total. Absent: not reported. */
  fee: Type.Optional(Type.Number()),
  /** Of the buyer: two upper-case letters (ISO 3166-1). Absent: not reported. */
  country: Type.Optional(Text),
  ...word,
});

/** A received payment: inserted into a ledger and never changed. */
export type PaymentFact = DeepReadonly<Static<typeof Payment>>;

/** A payment whose event reports only ids: it links them, and has no other effect. */
export const LINKING_PAYMENT = {
  kind: 'payment',
  subscriptionId: null,
  origin: 'other',
  customerId: null,
  customer: UNKNOWN_CUSTOMER,
  period: null,
  lines: [],
  total: null,
} as const satisfies Partial<PaymentFact>;

export const SUBSCRIPTION_STATUSES = [
  'active',
  'trialing',
  'past_due',
  'paused',
  'canceled',
] as const;
export const SCHEDULED_ACTIONS = ['cancel', 'pause', 'resume'] as const;

const Subscription = Type.Object({
  kind: Type.Literal('subscription'),
  ...occurrence,
  subscriptionId: Text,
  /** The purchase that started it, if the provider reports it. */
  transactionId: NullableText,
  customerId: NullableText,
  customer: Customer,
  status: Type.Enum(SUBSCRIPTION_STATUSES),
  /** The current period, paid or not; null while paused and once canceled. */
  period: orNull(Period),
  pausedAt: orNull(Time),
  canceledAt: orNull(Time),
  scheduledChange: orNull(Type.Object({ action: Type.Enum(SCHEDULED_ACTIONS), effectiveAt: Time })),
  lines: Type.Array(Line),
  ...order,
  ...word,
});

/** A snapshot of a subscription; the newest one applies. */
export type SubscriptionFact = DeepReadonly<Static<typeof Subscription>>;

export const ADJUSTMENT_STATUSES = ['pending', 'approved', 'rejected', 'reversed'] as const;

/** Whether an adjustment is full; null if the provider does not report it: the amounts then determine it. */
const Full = orNull(Type.Boolean());

const Adjustment = Type.Object({
  kind: Type.Literal('adjustment'),
  ...occurrence,
  adjustmentId: Text,
  transactionId: Text,
  /**
   * `none` (credits, harmless warnings) is only recorded. A reversal cancels one adjustment of its own kind; that of a
   * chargeback also cancels the warning before it.
   */
  effect: Type.Enum([
    'refund',
    'chargeback',
    'chargeback_reverse',
    'chargeback_warning',
    'chargeback_warning_reverse',
    'none',
  ]),
  status: Type.Enum(ADJUSTMENT_STATUSES),
  full: Full,
  total: Amount,
  ...money,
  ...word,
  /** The parts that concern single lines of the payment. */
  lines: Type.Array(Type.Object({ lineId: Text, full: Full, total: Amount })),
});

/** A refund or dispute. The newest fact of each id applies. */
export type AdjustmentFact = DeepReadonly<Static<typeof Adjustment>>;

/** The details of a customer. The newest fact of each id applies. */
export interface CustomerFact extends Occurrence {
  readonly kind: 'customer';
  readonly customerId: string;
  readonly customer: CustomerDetails;
}

const repair = {
  kind: Type.Literal('repair'),
  ...occurrence,
  transactionId: Text,
  /** The event from which the operator repaired the purchase. */
  repairedEventId: Text,
};

/** An operator's word about a purchase, which no event of the provider replaces. */
const Repair = Type.Union([
  /** In this purchase the price sells this product. */
  Type.Object({ ...repair, repair: Type.Literal('price'), priceId: Text, productId: Text }),
  /** The payment sold this product once, whatever its lines are. */
  Type.Object({
    ...repair,
    repair: Type.Literal('issue'),
    productId: Text,
    quantity: Type.Integer({ minimum: 1 }),
  }),
  /** The keys of this purchase go to this address. */
  Type.Object({ ...repair, repair: Type.Literal('address'), email: Text }),
]);
export type RepairFact = DeepReadonly<Static<typeof Repair>>;

/** The facts that purchases consist of. */
export type PurchaseFact = PaymentFact | SubscriptionFact | AdjustmentFact;

/** A fact of an event about a payment, subscription, adjustment or customer. */
export type BillingFact = PurchaseFact | CustomerFact;

const StoredFact = Compile(Type.Union([Payment, Subscription, Adjustment, Repair]));

/** The fields of type Date, which are texts in JSON. */
const DATE_FIELDS = new Set([
  'occurredAt',
  'startsAt',
  'endsAt',
  'pausedAt',
  'canceledAt',
  'effectiveAt',
]);

/**
 * Parses the JSON of a fact from a ledger. Each batch reads all facts of its purchases, so dates are read afterwards: a function
 * for `JSON.parse` takes three times as long.
 * @throws {Error} if it is not a fact, which means that code and ledger do not match
 */
export function parseStoredFact(json: string): PurchaseFact | RepairFact {
  const value: unknown = readDates(JSON.parse(json));
  if (StoredFact.Check(value)) return value;
  throw new Error('a payment ledger contains an invalid fact');
}

/** Replaces the texts of dates within a value that nothing else refers to. */
function readDates(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const name of Object.keys(value)) {
    const inner: unknown = Reflect.get(value, name);
    if (typeof inner === 'object') readDates(inner);
    else if (typeof inner === 'string' && DATE_FIELDS.has(name)) {
      Reflect.set(value, name, new Date(inner));
    }
  }
  return value;
}

/** Compares for sorting, oldest first, down to the nanosecond. */
export function compareOccurrences(a: Occurrence, b: Occurrence): number {
  const difference = a.occurredAt.getTime() - b.occurredAt.getTime();
  return difference === 0 ? (a.occurredNanos ?? 0) - (b.occurredNanos ?? 0) : difference;
}

/** Returns the time of a fact with all its digits, as fields of another fact. */
export function occurrenceOf({ occurredAt, occurredNanos = 0 }: Occurrence): Occurrence {
  return { occurredAt, occurredNanos };
}
