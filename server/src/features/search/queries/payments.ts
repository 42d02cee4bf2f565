import { Type, type Static } from 'typebox';

import { Nullable, defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

const PaymentRow = Type.Object({
  kind: Type.Enum(['transaction', 'subscription', 'customer', 'payment_event']),
  id: Type.String(),
  provider: Type.String(),
  /** Of an event: its type; of a customer: the e-mail address. */
  detail: Nullable.Text,
  /** Of an event. */
  status: Nullable.Text,
  at: Nullable.Timestamp,
});

/** A row of the ledgers or an event of a payment provider. */
export type FoundPayment = Readonly<Static<typeof PaymentRow>>;

const listStatement = defineStatement(
  'search_list_payments',
  PaymentRow,
  `select 'transaction' as kind, transaction_id as id, provider, null as detail, null as status, max(occurred_at) as at
   from (
     select transaction_id, provider, occurred_at from billing_payments where transaction_id = $1
     union all
     select paid.transaction_id, paid.provider, paid.occurred_at
     from billing_aliases named
     join billing_payments paid on paid.transaction_id = named.transaction_id and paid.provider = named.provider
     where named.alias = $1
   ) as paid
   group by transaction_id, provider
   union all
   select 'subscription', subscription_id, provider, null, null, max(occurred_at)
   from billing_subscriptions where subscription_id = $1
   group by subscription_id, provider
   union all
   select 'customer', customer_id, provider, email, null, occurred_at
   from billing_customers where customer_id = $1
   union all
   select 'payment_event', event_id, provider, type, status, received_at
   from billing_events where event_id = $1
   limit $2`,
);

/** Lists what the payment providers name by an id. Each part has the id as the first column of a primary key. */
export async function listPayments(
  db: Queryable,
  id: string,
  limit: number,
): Promise<FoundPayment[]> {
  return queryRows(db, listStatement, [id, limit]);
}
