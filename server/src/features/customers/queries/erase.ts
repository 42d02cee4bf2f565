import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
  toColumns,
} from '#server/db/statement.ts';

import type { CustomerKey, LedgerKey, Person, TransactionKey } from '../facts.ts';

const clearLicensesStatement = defineCommand(
  'customer_clear_licenses',
  `update licenses set customer_email = null, customer_name = null, note = null where id = any ($1::uuid[])`,
);

/** Removes the customer and the note of licenses. */
export async function clearLicenses(db: Queryable, licenseIds: readonly string[]): Promise<void> {
  await execute(db, clearLicensesStatement, [licenseIds]);
}

const clearSeatsStatement = defineCommand(
  'customer_clear_seats',
  'update imported_seats set label = null where license_id = any ($1::uuid[])',
);

/** Removes the names of the devices that licenses used in their previous system. */
export async function clearSeats(db: Queryable, licenseIds: readonly string[]): Promise<void> {
  await execute(db, clearSeatsStatement, [licenseIds]);
}

const clearCustomersStatement = defineCommand(
  'customer_clear_customers',
  `update billing_customers as customer
   set email = null, name = null, locale = null, occurred_at = greatest(customer.occurred_at, $3)
   from unnest($1::text[], $2::text[]) as target (customer_id, provider)
   where customer.customer_id = target.customer_id and customer.provider = target.provider`,
);

/**
 * Removes the data of customers. The rows stay with the time of the erasure, so that an older event or look-up does not
 * restore the data.
 */
export async function clearCustomers(
  db: Queryable,
  customers: readonly CustomerKey[],
  now: Date,
): Promise<void> {
  const names = toColumns(customers, ['customerId', 'provider']);
  await execute(db, clearCustomersStatement, [...names, now]);
}

/**
 * The recipient of a gift and its payer are two persons: each keeps the own data when the other one is erased. An erased recipient is
 * marked, so that the payer does not become the owner of the license.
 */
const FACT_WITHOUT_PERSON = `case when lower(fact->'recipient'->>'email') = any ($4::text[])
    then jsonb_set(fact, '{recipient}', '{"email": null, "name": null, "isErased": true}') else fact end
  || case when lower(fact->'customer'->>'email') <> all ($4::text[])
    then '{}' else '{"customer": {"email": null, "name": null, "locale": null}}' end::jsonb`;

function defineClearBuyer(table: string, id: string) {
  return defineCommand(
    `customer_clear_${table}`,
    `update ${table} as entry set fact = ${FACT_WITHOUT_PERSON}
     from unnest($1::text[], $2::text[], $3::text[]) as target (id, provider, event_id)
     where entry.${id} = target.id and entry.provider = target.provider and entry.event_id = target.event_id`,
  );
}

const clearPaymentsStatement = defineClearBuyer('billing_payments', 'transaction_id');
const clearSubscriptionsStatement = defineClearBuyer('billing_subscriptions', 'subscription_id');

/**
 * Removes the buyer of ledger rows, and the recipient of a gift with one of the addresses. Purchases and payments stay,
 * because licenses are computed from them.
 */
export async function clearLedger(
  db: Queryable,
  ledger: readonly LedgerKey[],
  spellings: readonly string[],
): Promise<void> {
  for (const [kind, statement] of [
    ['payment', clearPaymentsStatement],
    ['subscription', clearSubscriptionsStatement],
  ] as const) {
    const rows = ledger.filter((row) => row.kind === kind);
    await execute(db, statement, [...toColumns(rows, ['id', 'provider', 'eventId']), spellings]);
  }
}

const deleteRepairsStatement = defineCommand(
  'customer_delete_repairs',
  `delete from billing_repairs where lower(fact->>'email') = any ($1::text[])`,
);

/** Deletes the addresses that operators set for purchases. */
export async function deleteAddressRepairs(
  db: Queryable,
  spellings: readonly string[],
): Promise<void> {
  await execute(db, deleteRepairsStatement, [spellings]);
}

const clearKeyEmailsStatement = defineCommand(
  'customer_clear_key_emails',
  `update key_emails as email set address_hash = null
   from unnest($1::text[], $2::text[]) as target (transaction_id, provider)
   where email.transaction_id = target.transaction_id and email.provider = target.provider`,
);

/** Removes the recipients of e-mails with keys. */
export async function clearKeyEmails(
  db: Queryable,
  keyEmails: readonly TransactionKey[],
): Promise<void> {
  await execute(db, clearKeyEmailsStatement, toColumns(keyEmails, ['transactionId', 'provider']));
}

const listMessagesStatement = defineStatement(
  'customer_lock_messages',
  Type.Object({ id: Type.String(), payload: Type.String() }),
  'select id, payload from webhook_messages where id = any ($1::text[]) order by id for update',
);

const updateMessagesStatement = defineCommand(
  'customer_update_messages',
  `update webhook_messages as message set payload = changed.payload
   from unnest($1::text[], $2::text[]) as changed (id, payload) where message.id = changed.id`,
);

const clearAnswersStatement = defineCommand(
  'customer_clear_answers',
  'update webhook_attempts set answer = null where message_id = any ($1::text[]) and answer is not null',
);

/** Removes the address from messages of outgoing webhooks, and the answers to them; a replay sends them without it. */
export async function clearMessages(db: Queryable, ids: readonly string[]): Promise<void> {
  const messages = await queryRows(db, listMessagesStatement, [ids]);
  const payloads = messages.map(({ payload }) => withoutEmail(payload));
  await execute(db, updateMessagesStatement, [messages.map(({ id }) => id), payloads]);
  await execute(db, clearAnswersStatement, [ids]);
}

/** Keeps the order of the fields. */
function withoutEmail(payload: string): string {
  return JSON.stringify(
    JSON.parse(payload, (name, value: unknown) => (name === 'customer_email' ? undefined : value)),
  );
}

const removeJobsStatement = defineCommand(
  'customer_remove_jobs',
  `delete from jobs
   where payload ->> 'addressHash' = any ($1::text[])
      or (payload ->> 'customerId', payload ->> 'provider')
         in (select * from unnest($2::text[], $3::text[]))`,
);

/** Removes the jobs that would mail a subscriber or look customers up; a running job completes. */
export async function removeJobs(
  db: Queryable,
  { address, customers }: Pick<Person, 'address' | 'customers'>,
): Promise<void> {
  const names = toColumns(customers, ['customerId', 'provider']);
  await execute(db, removeJobsStatement, [address.hashes, ...names]);
}
