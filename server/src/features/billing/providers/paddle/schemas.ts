/**
 * What is read of Paddle's events; all else in them is passed over. Texts that are one of a list are any text here, for the
 * list grows. Times and amounts are read apart, each null when it cannot be.
 * @see https://developer.paddle.com/webhooks/overview
 */
import { Type, type Static, type TSchema } from 'typebox';

/** An id goes into the database and the log: printable ASCII, and an end. */
const Id = Type.String({ pattern: '^[!-~]{1,200}$' });

const MAX_LINES = 1_000;

const Cycle = Type.Object({ interval: Type.String(), frequency: Type.Optional(Type.Unknown()) });
export type Cycle = Static<typeof Cycle>;

const Price = Type.Object({ id: Id, billing_cycle: maybe(Cycle) });

/** As far as Paddle sells. */
const Quantity = maybe(Type.Integer({ minimum: 1, maximum: 999_999_999 }));

const Period = maybe(
  Type.Object({ starts_at: Type.Optional(Type.Unknown()), ends_at: Type.Optional(Type.Unknown()) }),
);

const Totals = maybe(
  Type.Object({
    total: Type.Optional(Type.Unknown()),
    grand_total: Type.Optional(Type.Unknown()),
  }),
);

export const Envelope = Type.Object({
  event_id: Id,
  event_type: Id,
  occurred_at: Type.String(),
  data: Type.Optional(Type.Unknown()),
});
export type Envelope = Static<typeof Envelope>;

const LineItem = Type.Object({ id: Id, price_id: Id, totals: Totals });

const TransactionItem = Type.Object({ price: Price, quantity: Quantity });

export const Transaction = Type.Object({
  id: Id,
  customer_id: maybe(Id),
  subscription_id: maybe(Id),
  origin: maybe(Type.String()),
  billing_period: Period,
  items: Type.Array(TransactionItem, { maxItems: MAX_LINES }),
  details: maybe(
    Type.Object({
      totals: Totals,
      line_items: maybe(Type.Array(LineItem, { maxItems: MAX_LINES })),
    }),
  ),
  custom_data: Type.Optional(Type.Unknown()),
});
export type Transaction = Static<typeof Transaction>;

const SubscriptionItem = Type.Object({
  price: Price,
  quantity: Quantity,
  recurring: maybe(Type.Boolean()),
});

export const Subscription = Type.Object({
  id: Id,
  status: Type.String(),
  transaction_id: maybe(Id),
  customer_id: maybe(Id),
  paused_at: Type.Optional(Type.Unknown()),
  canceled_at: Type.Optional(Type.Unknown()),
  current_billing_period: Period,
  billing_cycle: maybe(Cycle),
  scheduled_change: maybe(
    Type.Object({ action: Type.String(), effective_at: Type.Optional(Type.Unknown()) }),
  ),
  items: Type.Array(SubscriptionItem, { maxItems: MAX_LINES }),
  custom_data: Type.Optional(Type.Unknown()),
});
export type Subscription = Static<typeof Subscription>;

const AdjustmentItem = Type.Object({
  item_id: Id,
  type: maybe(Type.String()),
  amount: Type.Optional(Type.Unknown()),
  totals: Totals,
});

export const Adjustment = Type.Object({
  id: Id,
  action: Type.String(),
  type: maybe(Type.String()),
  transaction_id: Id,
  status: Type.String(),
  items: maybe(Type.Array(AdjustmentItem, { maxItems: MAX_LINES })),
  totals: Totals,
});
export type Adjustment = Static<typeof Adjustment>;

export const Customer = Type.Object({
  id: Id,
  email: Type.Optional(Type.Unknown()),
  name: Type.Optional(Type.Unknown()),
  locale: Type.Optional(Type.Unknown()),
});
export type Customer = Static<typeof Customer>;

/** A field that may be null or not there at all. */
function maybe<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}
