/** What events report, for operators: one statement for a page of events. */
import { Type, type Static } from 'typebox';

import { defineStatement, Nullable, queryRows, type Queryable } from '#server/db/statement.ts';

import { parseStoredFact, type BillingFact, type PaymentFact } from '../facts.ts';
import type { EventPosition } from './event-list.ts';

const SoldPrice = Type.Object({ priceId: Type.String(), productId: Type.String() });

/** A price of a purchase, and the product that it sold. */
export type SoldPrice = Readonly<Static<typeof SoldPrice>>;

/** A fact of an event, and what its purchase says about it. */
export interface EventFact {
  readonly provider: string;
  readonly eventId: string;
  readonly fact: BillingFact;
  /** The payment that an adjustment is about; null if it is unknown or the fact is another one. */
  readonly payment: PaymentFact | null;
  /** Of the stored customer; null: unknown. */
  readonly email: string | null;
  readonly name: string | null;
  readonly sold: readonly SoldPrice[];
}

/** Of the payments that began a purchase, which have its licenses. */
const MAX_TRANSACTIONS = 20;

const MAX_SOLD = 20;

// A payment before an adjustment before a snapshot, the newest one, if an event has several facts.
const statement = defineStatement(
  'billing_event_list_reported',
  Type.Object({
    provider: Type.String(),
    eventId: Type.String(),
    fact: Type.String(),
    payment: Nullable.Text,
    email: Nullable.Text,
    name: Nullable.Text,
    sold: Type.Array(SoldPrice),
  }),
  `select event.provider, event.event_id as "eventId", found.fact::text as fact, paid.fact::text as payment, known.email, known.name,
          array(
            select distinct jsonb_build_object('priceId', sale.price_id, 'productId', sale.product_id)
            from billing_licenses billed join billing_sales sale on sale.license_id = billed.license_id
            where billed.provider = event.provider and billed.transaction_id = any (array(
              select found.transaction_id
              union all
              (select began.transaction_id from billing_payments began
               where began.subscription_id = coalesce(found.subscription_id, paid.subscription_id) and began.provider = event.provider
               order by began.occurred_at limit ${MAX_TRANSACTIONS})
            ))
            limit ${MAX_SOLD}
          ) as sold
   from unnest($1::text[], $2::text[]) as event (provider, event_id)
   cross join lateral (
     select 1 as rank, transaction_id, subscription_id, customer_id, occurred_at, fact from billing_payments
     where event_id = event.event_id and provider = event.provider
     union all
     select 2, transaction_id, null, null, occurred_at, fact from billing_adjustments
     where event_id = event.event_id and provider = event.provider
     union all
     select 3, transaction_id, subscription_id, customer_id, occurred_at, fact from billing_subscriptions
     where event_id = event.event_id and provider = event.provider
     order by rank, occurred_at desc limit 1
   ) as found
   left join lateral (
     select fact, subscription_id, customer_id from billing_payments
     where found.rank = 2 and transaction_id = found.transaction_id and provider = event.provider
     order by (fact ->> 'total') is null, occurred_at desc limit 1
   ) as paid on true
   left join billing_customers known
     on known.customer_id = coalesce(found.customer_id, paid.customer_id) and known.provider = event.provider`,
);

/** Lists the fact of each event that has one in the ledgers. @param events a page, at most */
export async function listEventFacts(
  db: Queryable,
  events: readonly Pick<EventPosition, 'provider' | 'eventId'>[],
): Promise<EventFact[]> {
  if (events.length === 0) return [];
  const rows = await queryRows(db, statement, [
    events.map(({ provider }) => provider),
    events.map(({ eventId }) => eventId),
  ]);
  return rows.flatMap(({ fact: text, payment, ...row }) => {
    const fact = parseStoredFact(text);
    return fact.kind === 'repair' ? [] : [{ ...row, fact, payment: readPayment(payment) }];
  });
}

function readPayment(text: string | null): PaymentFact | null {
  const fact = text === null ? null : parseStoredFact(text);
  return fact?.kind === 'payment' ? fact : null;
}
