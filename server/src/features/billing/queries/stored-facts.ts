import { Type, type TSchema } from 'typebox';
import { Compile } from 'typebox/schema';

import { Timestamp } from '#server/db/statement.ts';

import type { AdjustmentFact, PaymentFact, SubscriptionFact } from '../facts.ts';

const Text = Type.String();
const Nanoseconds = Type.Integer({ minimum: 0, maximum: 999_999 });

function orNull<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

const Period = Type.Object({ startsAt: Timestamp, endsAt: Timestamp });
const Cycle = Type.Object({
  interval: Type.Enum(['day', 'week', 'month', 'year']),
  frequency: Type.Integer(),
});
const Line = Type.Object({
  lineId: Text,
  priceId: Text,
  quantity: Type.Number(),
  cycle: orNull(Cycle),
  total: orNull(Type.Number()),
});
const Customer = Type.Object({ email: orNull(Text), name: orNull(Text), locale: orNull(Text) });

const Payment = Type.Object({
  kind: Type.Literal('payment'),
  transactionId: Text,
  aliases: Type.Optional(Type.Array(Text)),
  checkoutId: Type.Optional(Text),
  subscriptionId: orNull(Text),
  origin: Type.Enum(['purchase', 'renewal', 'change', 'other']),
  customerId: orNull(Text),
  customer: Customer,
  occurredAt: Timestamp,
  occurredNanos: Type.Optional(Nanoseconds),
  period: orNull(Period),
  lines: Type.Array(Line),
  total: orNull(Type.Number()),
});

const Subscription = Type.Object({
  kind: Type.Literal('subscription'),
  subscriptionId: Text,
  transactionId: orNull(Text),
  customerId: orNull(Text),
  customer: Customer,
  occurredAt: Timestamp,
  occurredNanos: Type.Optional(Nanoseconds),
  status: Type.Enum(['active', 'trialing', 'past_due', 'paused', 'canceled']),
  period: orNull(Period),
  pausedAt: orNull(Timestamp),
  canceledAt: orNull(Timestamp),
  scheduledChange: orNull(
    Type.Object({ action: Type.Enum(['cancel', 'pause', 'resume']), effectiveAt: Timestamp }),
  ),
  lines: Type.Array(Line),
});

const Adjustment = Type.Object({
  kind: Type.Literal('adjustment'),
  adjustmentId: Text,
  transactionId: Text,
  occurredAt: Timestamp,
  occurredNanos: Type.Optional(Nanoseconds),
  effect: Type.Enum([
    'refund',
    'chargeback',
    'chargeback_reverse',
    'chargeback_warning',
    'chargeback_warning_reverse',
    'none',
  ]),
  status: Type.Enum(['pending', 'approved', 'rejected', 'reversed']),
  full: orNull(Type.Boolean()),
  total: orNull(Type.Number()),
  lines: Type.Array(
    Type.Object({ lineId: Text, full: orNull(Type.Boolean()), total: orNull(Type.Number()) }),
  ),
});

const StoredFact = Compile(Type.Union([Payment, Subscription, Adjustment]));

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
 * Parses the JSON of a fact from a ledger.
 * @throws {Error} if it is not a fact, which means that code and ledger do not match
 */
export function readStoredFact(json: string): PaymentFact | SubscriptionFact | AdjustmentFact {
  const value: unknown = JSON.parse(json, (name, inner: unknown) =>
    DATE_FIELDS.has(name) && typeof inner === 'string' ? new Date(inner) : inner,
  );
  if (StoredFact.Check(value)) return value;
  throw new Error('a payment ledger contains an invalid fact');
}
