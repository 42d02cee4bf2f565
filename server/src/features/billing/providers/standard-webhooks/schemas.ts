/** Schemas of this project's own event format, documented in docs/integrations/payments/own-shop.md. */
import { Type, type Static } from 'typebox';

import { Id, optional } from '../fields.ts';

const Time = Type.String({ maxLength: 64 });
const Amount = optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));
const Flag = optional(Type.Boolean());

const Customer = Type.Object({
  id: optional(Id),
  email: optional(Type.String({ maxLength: 320 })),
  name: optional(Type.String({ maxLength: 1_000 })),
  locale: optional(Type.String({ maxLength: 35 })),
});

const Period = Type.Object({ starts_at: Time, ends_at: Time });

const Cycle = Type.Object({
  interval: Type.String({ maxLength: 64 }),
  frequency: optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
});

const Line = Type.Object({
  id: optional(Id),
  price_id: Id,
  quantity: optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  cycle: optional(Cycle),
  total: Amount,
});

const money = { total: Amount, tax: Amount, currency: Type.Optional(Type.Unknown()) };

export const Payment = Type.Object({
  transaction_id: Id,
  subscription_id: optional(Id),
  customer: optional(Customer),
  period: optional(Period),
  lines: optional(Type.Array(Line, { maxItems: 500 })),
  ...money,
  fee: Amount,
  country: Type.Optional(Type.Unknown()),
  custom_data: Type.Optional(Type.Unknown()),
});
export type Payment = Static<typeof Payment>;

export const Subscription = Type.Object({
  subscription_id: Id,
  transaction_id: optional(Id),
  customer: optional(Customer),
  status: Type.String({ maxLength: 64 }),
  period: optional(Period),
  paused_at: optional(Time),
  canceled_at: optional(Time),
  scheduled_change: optional(
    Type.Object({ action: Type.String({ maxLength: 64 }), effective_at: Time }),
  ),
  lines: optional(Type.Array(Line, { maxItems: 500 })),
  custom_data: Type.Optional(Type.Unknown()),
});
export type Subscription = Static<typeof Subscription>;

export const Refund = Type.Object({
  refund_id: Id,
  transaction_id: Id,
  status: optional(Type.String({ maxLength: 64 })),
  full: Flag,
  ...money,
  lines: optional(
    Type.Array(Type.Object({ id: Id, full: Flag, total: Amount }), { maxItems: 500 }),
  ),
});

export const Dispute = Type.Object({ dispute_id: Id, transaction_id: Id, ...money });

export const CustomerChange = Type.Object({ ...Customer.properties, id: Id });

export type Customer = Static<typeof Customer>;
export type Line = Static<typeof Line>;
