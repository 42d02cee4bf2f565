import { Type, type Static } from 'typebox';

import {
  Bytes,
  defineStatement,
  Nullable,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { NOT_STOPPED } from '../licenses/rules/status-sql.ts';
import type { CustomerKey, TransactionKey } from '../billing/queries/purchases.ts';
import type { WaitReason } from './queries.ts';

const BoughtLicense = Type.Object({
  id: Type.String(),
  productId: Type.String(),
  maxActivations: Type.Integer(),
  updatesUntil: Nullable.Timestamp,
  keySealed: Bytes,
  customerEmail: Nullable.Text,
  customerName: Nullable.Text,
  isValid: Type.Boolean(),
  /** Whether the transaction renews it, so that its buyer did not need its key. */
  isRenewed: Type.Boolean(),
});

/** A license of a transaction. It is valid if it is neither refunded, revoked, canceled, suspended nor disputed. */
export type BoughtLicense = Readonly<Static<typeof BoughtLicense>>;

const listLicensesStatement = defineStatement(
  'key_email_list_licenses',
  BoughtLicense,
  `select l.id, l.product_id as "productId", l.max_activations as "maxActivations", l.updates_until as "updatesUntil", l.key_sealed as "keySealed",
          l.customer_email as "customerEmail", l.customer_name as "customerName",
          ${NOT_STOPPED} and canceled_at is null as "isValid",
          billed.renews as "isRenewed"
   from billing_licenses billed join licenses l on l.id = billed.license_id
   where billed.transaction_id = $1 and billed.provider = $2
   order by split_part(split_part(billed.line_key, '#', 1), '+', 1), l.id
   limit 5000`,
);

/** Lists the licenses of a transaction, in the order of its lines. */
export async function listBoughtLicenses(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
): Promise<BoughtLicense[]> {
  return queryRows(db, listLicensesStatement, [transactionId, provider]);
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

const CustomerRow = Type.Object({ customerId: Type.String(), provider: Type.String() });

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
  CustomerRow,
  `select customer_id as "customerId", provider
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
  return queryRow(db, findUnknownStatement, [transactionId, provider]);
}

const listOfCustomerStatement = defineStatement(
  'key_email_list_of_customer',
  Type.Object({ transactionId: Type.String(), provider: Type.String() }),
  `select transaction_id as "transactionId", provider
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
  return queryRows(db, listOfCustomerStatement, [customerId, provider, reason]);
}

const listWithoutAddressStatement = defineStatement(
  'key_email_list_customers_without_address',
  CustomerRow,
  `select distinct customer_id as "customerId", provider
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
  return queryRows(db, listWithoutAddressStatement, [provider, after, limit]);
}
