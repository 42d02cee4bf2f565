/**
 * Schemas of the fields that are read from Paddle's events; other fields are ignored. Enumerations are any text, because
 * Paddle extends them. Times and amounts are read separately, and are null if invalid.
 * @see https://developer.paddle.com/webhooks/overview
 */
import { Type, type Static } from 'typebox';

import { Id, optional } from '../fields.ts';

const MAX_LINES = 1_000;

const Cycle = Type.Object({ interval: Type.String(), frequency: Type.Optional(Type.Unknown()) });
export type Cycle = Static<typeof Cycle>;

const Price = Type.Object({ id: Id, billing_cycle: optional(Cycle) });

/** Read separately: one that is not plausible is reported with its purchase. */
const Quantity = Type.Optional(Type.Unknown());

const Period = optional(
  Type.Object({ starts_at: Type.Optional(Type.Unknown()), ends_at: Type.Optional(Type.Unknown()) }),
);

const Totals = optional(
  Type.Object({
    total: Type.Optional(Type.Unknown()),
    grand_total: Type.Optional(Type.Unknown()),
    tax: Type.Optional(Type.Unknown()),
    fee: Type.Optional(Type.Unknown()),
  }),
);

export type Totals = Static<typeof Totals>;

const LineItem = Type.Object({ id: Id, price_id: Id, totals: Totals });

const TransactionItem = Type.Object({ price: Price, quantity: Quantity });

export const Transaction = Type.Object({
  id: Id,
  customer_id: optional(Id),
  subscription_id: optional(Id),
  origin: optional(Type.String()),
  billing_period: Period,
  currency_code: Type.Optional(Type.Unknown()),
  // Only if it was requested with the transaction; its event has only an id.
  address: optional(Type.Object({ country_code: Type.Optional(Type.Unknown()) })),
  items: Type.Array(TransactionItem, { maxItems: MAX_LINES }),
  details: optional(
    Type.Object({
      totals: Totals,
      line_items: optional(Type.Array(LineItem, { maxItems: MAX_LINES })),
    }),
  ),
  custom_data: Type.Optional(Type.Unknown()),
});
export type Transaction = Static<typeof Transaction>;

const SubscriptionItem = Type.Object({
  price: Price,
  quantity: Quantity,
  recurring: optional(Type.Boolean()),
});

export const Subscription = Type.Object({
  id: Id,
  status: Type.String(),
  transaction_id: optional(Id),
  customer_id: optional(Id),
  paused_at: Type.Optional(Type.Unknown()),
  canceled_at: Type.Optional(Type.Unknown()),
  current_billing_period: Period,
  billing_cycle: optional(Cycle),
  scheduled_change: optional(
    Type.Object({ action: Type.String(), effective_at: Type.Optional(Type.Unknown()) }),
  ),
  items: Type.Array(SubscriptionItem, { maxItems: MAX_LINES }),
  custom_data: Type.Optional(Type.Unknown()),
});
export type Subscription = Static<typeof Subscription>;

const AdjustmentItem = Type.Object({
  item_id: Id,
  type: optional(Type.String()),
  amount: Type.Optional(Type.Unknown()),
  totals: Totals,
});

export const Adjustment = Type.Object({
  id: Id,
  action: Type.String(),
  type: optional(Type.String()),
  transaction_id: Id,
  status: Type.String(),
  currency_code: Type.Optional(Type.Unknown()),
  items: optional(Type.Array(AdjustmentItem, { maxItems: MAX_LINES })),
  totals: Totals,
});

export const Customer = Type.Object({
  id: Id,
  email: Type.Optional(Type.Unknown()),
  name: Type.Optional(Type.Unknown()),
  locale: Type.Optional(Type.Unknown()),
});
export type Customer = Static<typeof Customer>;
