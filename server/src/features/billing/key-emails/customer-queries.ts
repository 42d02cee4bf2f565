import { Type } from 'typebox';

import { defineStatement, queryRow, queryRows, type Queryable } from '#server/db/statement.ts';

import type { CustomerKey } from '../queue-jobs.ts';
import type { TransactionKey, WaitReason } from './queries.ts';

const findUnknownStatement = defineStatement(
  'key_email_find_unknown_customer',
  Type.Object({ customer_id: Type.String() }),
  `select customer_id
   from key_emails email
   cross join lateral (
     select customer_id from billing_payments
     where transaction_id = email.transaction_id and provider = email.provider
     union all
     select customer_id from billing_subscriptions
     where transaction_id = email.transaction_id and provider = email.provider
   ) as told
   where email.transaction_id = $1 and email.provider = $2
     and state in ('waiting', 'withheld')
     and (reason is null or reason in ('no_address', 'no_mail', 'no_license'))
     and customer_id is not null
     and not exists (
       select from billing_customers known
       where known.customer_id = told.customer_id and known.provider = email.provider
     )
   limit 1`,
);

/**
 * The customer of an e-mail that waits, when nothing is known of it but the id and the e-mail has not waited for its
 * look-up yet. Null: nobody is to be looked up.
 */
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
   ) as told
   join key_emails using (transaction_id, provider)
   where state = 'waiting' and reason = $3
   order by transaction_id
   limit 1000`,
);

/** A customer's e-mails that wait for a reason. */
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
   cross join lateral (
     select customer_id from billing_payments
     where transaction_id = email.transaction_id and provider = email.provider
     union all
     select customer_id from billing_subscriptions
     where transaction_id = email.transaction_id and provider = email.provider
   ) as told
   where state = 'waiting' and reason = 'no_address' and provider = $1 and customer_id > $2
   order by customer_id
   limit $3`,
);

/**
 * A provider's customers with e-mails that wait for an address, in the order of their ids.
 * @param after the id behind which the page begins; empty for the first
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
