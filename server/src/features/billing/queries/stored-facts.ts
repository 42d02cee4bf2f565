import { Type, type TSchema } from 'typebox';
import { Compile } from 'typebox/schema';

import { Timestamp } from '#server/db/statement.ts';

import type { AdjustmentFact, PaymentFact, SubscriptionFact } from '../facts.ts';

const Moment = Timestamp;
const Text = Type.String();
const Nanoseconds = Type.Integer({ minimum: 0, maximum: 999_999 });

function orNull<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

const Period = Type.Object({ startsAt: Moment, endsAt: Moment });
const Cycle = Type.Object({
  interval: Type.Union([
    Type.Literal('day'),
    Type.Literal('week'),
    Type.Literal('month'),
    Type.Literal('year'),
  ]),
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
  origin: Type.Union([
    Type.Literal('purchase'),
    Type.Literal('renewal'),
    Type.Literal('change'),
    Type.Literal('other'),
  ]),
  customerId: orNull(Text),
  customer: Customer,
  occurredAt: Moment,
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
  occurredAt: Moment,
  occurredNanos: Type.Optional(Nanoseconds),
  status: Type.Union([
    Type.Literal('active'),
    Type.Literal('trialing'),
    Type.Literal('past_due'),
    Type.Literal('paused'),
    Type.Literal('canceled'),
  ]),
  period: orNull(Period),
  pausedAt: orNull(Moment),
  canceledAt: orNull(Moment),
  scheduledChange: orNull(
    Type.Object({
      action: Type.Union([Type.Literal('cancel'), Type.Literal('pause'), Type.Literal('resume')]),
      effectiveAt: Moment,
    }),
  ),
  lines: Type.Array(Line),
});

const Adjustment = Type.Object({
  kind: Type.Literal('adjustment'),
  adjustmentId: Text,
  transactionId: Text,
  occurredAt: Moment,
  occurredNanos: Type.Optional(Nanoseconds),
  effect: Type.Union([
    Type.Literal('refund'),
    Type.Literal('chargeback'),
    Type.Literal('chargeback_reverse'),
    Type.Literal('chargeback_warning'),
    Type.Literal('chargeback_warning_reverse'),
    Type.Literal('none'),
  ]),
  status: Type.Union([
    Type.Literal('pending'),
    Type.Literal('approved'),
    Type.Literal('rejected'),
    Type.Literal('reversed'),
  ]),
  full: orNull(Type.Boolean()),
  total: orNull(Type.Number()),
  lines: Type.Array(
    Type.Object({ lineId: Text, full: orNull(Type.Boolean()), total: orNull(Type.Number()) }),
  ),
});

const StoredFact = Compile(Type.Union([Payment, Subscription, Adjustment]));

/** The fields that hold a moment; JSON has texts for them. */
const MOMENTS = new Set([
  'occurredAt',
  'startsAt',
  'endsAt',
  'pausedAt',
  'canceledAt',
  'effectiveAt',
]);

/**
 * Reads a fact as a ledger keeps it: its JSON.
 * @throws {Error} for JSON that is no fact, which means that code and ledger have drifted apart
 */
export function readStoredFact(json: string): PaymentFact | SubscriptionFact | AdjustmentFact {
  const value: unknown = JSON.parse(json, (name, inner: unknown) =>
    MOMENTS.has(name) && typeof inner === 'string' ? new Date(inner) : inner,
  );
  if (StoredFact.Check(value)) return value;
  throw new Error('a ledger of payments holds something that is no fact');
}
