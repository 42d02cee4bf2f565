import { Type } from 'typebox';

import {
  Bytes,
  defineStatement,
  Nullable,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import type { CustomerKey, TransactionKey } from '../queries/purchases.ts';
import type { WaitReason } from './queries.ts';

const listLicensesStatement = defineStatement(
  'key_email_list_licenses',
  Type.Object({
    id: Type.String(),
    product_id: Type.String(),
    max_activations: Type.Integer(),
    key_sealed: Bytes,
    customer_email: Nullable.Text,
    customer_name: Nullable.Text,
    is_valid: Type.Boolean(),
  }),
  `select l.id, l.product_id, l.max_activations, l.key_sealed, l.customer_email, l.customer_name,
          coalesce(l.revoked_at, l.refunded_at, l.suspended_at, l.disputed_at, l.canceled_at) is null as is_valid
   from billing_licenses billed join licenses l on l.id = billed.license_id
   where billed.transaction_id = $1 and billed.provider = $2
   order by billed.line_key, l.id
   limit 500`,
);

/** A license that was created for a transaction. */
export interface BoughtLicense {
  readonly id: string;
  readonly productId: string;
  readonly maxActivations: number;
  readonly keySealed: Buffer;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  /** Neither refunded, revoked, canceled, suspended nor disputed. */
  readonly isValid: boolean;
}

/** Lists the licenses of a transaction, in the order of its lines. */
export async function listBoughtLicenses(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
): Promise<BoughtLicense[]> {
  const rows = await queryRows(db, listLicensesStatement, [transactionId, provider]);
  return rows.map((row) => ({
    id: row.id,
    productId: row.product_id,
    maxActivations: row.max_activations,
    keySealed: row.key_sealed,
    customerEmail: row.customer_email,
    customerName: row.customer_name,
    isValid: row.is_valid,
  }));
}

const findLocaleStatement = defineStatement(
  'key_email_find_locale',
  Type.Object({ locale: Type.String() }),
  `with facts as (
     select customer_id, fact, occurred_at, coalesce((fact->>'occurredNanos')::integer, 0) as occurred_nanos
     from billing_payments where transaction_id = $1 and provider = $2
     union all
     select customer_id, fact, occurred_at, coalesce((fact->>'occurredNanos')::integer, 0)
     from billing_subscriptions where transaction_id = $1 and provider = $2
   )
   select locale from (
     select customer.locale, 1 as rank, customer.occurred_at, customer.occurred_nanos
     from facts
     join billing_customers customer on customer.customer_id = facts.customer_id and customer.provider = $2
     union all
     select fact -> 'customer' ->> 'locale', 2, occurred_at, occurred_nanos from facts
   ) as candidates
   where locale is not null
   order by rank, occurred_at desc, occurred_nanos desc
   limit 1`,
);

/** Returns the locale of the buyer, or null if the provider did not report it. */
export async function findBuyerLocale(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
): Promise<string | null> {
  return (await queryRow(db, findLocaleStatement, [transactionId, provider]))?.locale ?? null;
}

/** The customers of an e-mail's transaction. */
const CUSTOMERS = `cross join lateral (
     select customer_id from billing_payments
     where transaction_id = email.transaction_id and provider = email.provider
     union all
     select customer_id from billing_subscriptions
     where transaction_id = email.transaction_id and provider = email.provider
   ) as buyer`;

const findUnknownStatement = defineStatement(
  'key_email_find_unknown_customer',
  Type.Object({ customer_id: Type.String() }),
  `select customer_id
   from key_emails email
   ${CUSTOMERS}
   where email.transaction_id = $1 and email.provider = $2
     and state in ('waiting', 'withheld')
     and (reason is null or reason in ('no_address', 'no_mail', 'no_license'))
     and customer_id is not null
     and not exists (
       select from billing_customers stored
       where stored.customer_id = buyer.customer_id and stored.provider = email.provider
     )
   limit 1`,
);

/** Returns the customer of an e-mail if its details are not stored and were not looked up yet, or null. */
export async function findUnknownCustomer(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
): Promise<CustomerKey | null> {
  const row = await queryRow(db, findUnknownStatement, [transactionId, provider]);
  return row === null ? null : { provider, customerId: row.customer_id };
}

const listOfCustomerStatement = defineStatement(
  'key_email_list_of_customer',
  Type.Object({ transaction_id: Type.String() }),
  `select transaction_id
   from (
     select transaction_id, provider from billing_payments where customer_id = $1 and provider = $2
     union
     select transaction_id, provider from billing_subscriptions where customer_id = $1 and provider = $2
   ) as bought
   join key_emails using (transaction_id, provider)
   where state = 'waiting' and reason = $3
   order by transaction_id
   limit 1000`,
);

/** Lists the e-mails of a customer that wait for a reason. */
export async function listKeyEmailsOfCustomer(
  db: Queryable,
  { provider, customerId }: CustomerKey,
  reason: WaitReason,
): Promise<TransactionKey[]> {
  const rows = await queryRows(db, listOfCustomerStatement, [customerId, provider, reason]);
  return rows.map((row) => ({ provider, transactionId: row.transaction_id }));
}

const listWithoutAddressStatement = defineStatement(
  'key_email_list_customers_without_address',
  Type.Object({ customer_id: Type.String() }),
  `select distinct customer_id
   from key_emails email
   ${CUSTOMERS}
   where state = 'waiting' and reason = 'no_address' and provider = $1 and customer_id > $2
   order by customer_id
   limit $3`,
);

/**
 * Lists the customers of a provider whose e-mails wait for an address, by id.
 * @param after the last id of the previous page; empty for the first page
 */
export async function listCustomersWithoutAddress(
  db: Queryable,
  provider: string,
  after: string,
  limit: number,
): Promise<CustomerKey[]> {
  const rows = await queryRows(db, listWithoutAddressStatement, [provider, after, limit]);
  return rows.map((row) => ({ provider, customerId: row.customer_id }));
}
