/** Statements that delete what the test modes of payment providers created. */
import { PAYMENT_PROVIDERS, toTestSource } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

import type { TransactionKey } from './purchases.ts';

/** Finds test events by the index of the provider, which the pattern of a suffix would not use. */
const TEST_SOURCES = PAYMENT_PROVIDERS.map(toTestSource);

const listLicensesStatement = defineStatement(
  'test_mode_list_licenses',
  Type.Object({ id: Type.String() }),
  'select id from licenses where is_test order by id limit $1',
);

/** Lists licenses of test purchases, at most `limit`. */
export async function listTestLicenses(db: Queryable, limit: number): Promise<string[]> {
  return (await queryRows(db, listLicensesStatement, [limit])).map(({ id }) => id);
}

/** The tables with rows of a license, which end with it. */
export const LICENSE_TABLES = [
  'license_keys',
  'license_transactions',
  'license_names',
  'activations',
  'license_activity',
  'license_refusals',
  'license_uses',
  'license_updates',
  'billing_sales',
  'billing_licenses',
] as const;

const deleteLicenseRows = [
  ...LICENSE_TABLES.map((table) => [table, 'license_id'] as const),
  ['licenses', 'id'] as const,
].map(([table, column]) =>
  defineCommand(
    `test_mode_delete_${table}`,
    `delete from ${table} where ${column} = any ($1::uuid[])`,
  ),
);

/** Deletes licenses with their keys, machines and sales. */
export async function deleteLicenses(db: Queryable, ids: readonly string[]): Promise<void> {
  for (const statement of deleteLicenseRows) await execute(db, statement, [ids]);
}

const EventKeyRow = Type.Object({ eventId: Type.String(), provider: Type.String() });

const listEventsStatement = defineStatement(
  'test_mode_list_events',
  EventKeyRow,
  `select event_id, provider from billing_events where provider = any ($1::text[]) limit $2`,
);

/** The key of a stored event. */
type StoredKey = Readonly<Static<typeof EventKeyRow>>;

/** Lists events of test modes, at most `limit`. */
export async function listTestEvents(db: Queryable, limit: number): Promise<StoredKey[]> {
  return queryRows(db, listEventsStatement, [TEST_SOURCES, limit]);
}

const LEDGERS = ['billing_adjustments', 'billing_subscriptions', 'billing_payments'] as const;

const deleteFacts = [...LEDGERS, 'billing_events' as const].map((table) =>
  defineCommand(
    `test_mode_delete_facts_${table}`,
    `delete from ${table} as stored using unnest($1::text[], $2::text[]) as event (event_id, provider)
     where stored.event_id = event.event_id and stored.provider = event.provider`,
  ),
);

/** Deletes events and their facts. */
export async function deleteEvents(db: Queryable, events: readonly StoredKey[]): Promise<void> {
  const columns = toColumns(events, ['eventId', 'provider']);
  for (const statement of deleteFacts) await execute(db, statement, columns);
}

const listTransactionsStatement = defineStatement(
  'test_mode_list_transactions',
  Type.Object({ provider: Type.String(), transactionId: Type.String() }),
  `select distinct payment.provider, payment.transaction_id as "transactionId"
   from unnest($1::text[], $2::text[]) as event (event_id, provider)
   join billing_payments payment on payment.event_id = event.event_id and payment.provider = event.provider`,
);

/** Lists the payments that events report. */
export async function listPaymentsOf(
  db: Queryable,
  events: readonly StoredKey[],
): Promise<TransactionKey[]> {
  return queryRows(db, listTransactionsStatement, toColumns(events, ['eventId', 'provider']));
}

const deletePurchaseRows = ['billing_aliases', 'billing_repairs', 'key_emails'].map((table) =>
  defineCommand(
    `test_mode_delete_purchases_${table}`,
    `delete from ${table} as stored using unnest($1::text[], $2::text[]) as payment (provider, transaction_id)
     where stored.transaction_id = payment.transaction_id and stored.provider = payment.provider`,
  ),
);

/** Deletes the other ids of payments, and the e-mails with their keys. */
export async function deletePurchases(
  db: Queryable,
  payments: readonly TransactionKey[],
): Promise<void> {
  const columns = toColumns(payments, ['provider', 'transactionId']);
  for (const statement of deletePurchaseRows) await execute(db, statement, columns);
}

const deleteCustomersStatement = defineCommand(
  'test_mode_delete_customers',
  'delete from billing_customers where provider = any ($1::text[])',
);

/** Deletes the customers of test modes. */
export async function deleteTestCustomers(db: Queryable): Promise<void> {
  await execute(db, deleteCustomersStatement, [TEST_SOURCES]);
}
