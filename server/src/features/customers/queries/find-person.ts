import { Type } from 'typebox';

import {
  Nullable,
  defineStatement,
  queryRows,
  type Queryable,
  toColumns,
} from '#server/db/statement.ts';

import type { CustomerKey, KeyEmailKey, LedgerKey } from '../facts.ts';

/** Some statements read whole tables, without an index, because they rarely run. */
const LONG_STATEMENT_MS = 5 * 60_000;

const licensesStatement = defineStatement(
  'customer_find_licenses',
  Type.Object({ id: Type.String() }),
  'select id from licenses where lower(customer_email) = any ($1::text[]) order by id',
);

/** Finds the licenses with an address. Reads all licenses. */
export async function findLicenseIds(
  db: Queryable,
  spellings: readonly string[],
): Promise<string[]> {
  const rows = await queryRows(db, licensesStatement, [spellings], LONG_STATEMENT_MS);
  return rows.map(({ id }) => id);
}

const customersStatement = defineStatement(
  'customer_find_customers',
  Type.Object({ provider: Type.String(), customer_id: Type.String() }),
  `select provider, customer_id from billing_customers
   where lower(email) = any ($1::text[]) order by customer_id, provider`,
);

/** Finds the providers' customers with an address. Reads all customers. */
export async function findCustomers(
  db: Queryable,
  spellings: readonly string[],
): Promise<CustomerKey[]> {
  const rows = await queryRows(db, customersStatement, [spellings], LONG_STATEMENT_MS);
  return rows.map(({ provider, customer_id: customerId }) => ({ provider, customerId }));
}

const IS_OF_PERSON = `(lower(fact->'customer'->>'email') = any ($1::text[])
      or fact->'customer'->>'email' is null
     and (customer_id, provider) in (select * from unnest($2::text[], $3::text[])))`;

const ledgerStatement = defineStatement(
  'customer_find_ledger',
  Type.Object({
    kind: Type.Union([Type.Literal('payment'), Type.Literal('subscription')]),
    id: Type.String(),
    provider: Type.String(),
    event_id: Type.String(),
  }),
  `select 'payment' as kind, transaction_id as id, provider, event_id
   from billing_payments where ${IS_OF_PERSON}
   union all
   select 'subscription', subscription_id, provider, event_id
   from billing_subscriptions where ${IS_OF_PERSON}`,
);

/**
 * Finds the ledger rows with an address, and those of its customers without one: a row with another address belongs to
 * another person. Reads the whole ledgers.
 */
export async function findLedgerRows(
  db: Queryable,
  spellings: readonly string[],
  customers: readonly CustomerKey[],
): Promise<LedgerKey[]> {
  const parameters = [spellings, ...toColumns(customers, ['customerId', 'provider'])];
  const rows = await queryRows(db, ledgerStatement, parameters, LONG_STATEMENT_MS);
  return rows.map(({ event_id: eventId, ...row }) => ({ ...row, eventId }));
}

const adjustmentsStatement = defineStatement(
  'customer_find_adjustments',
  Type.Object({ provider: Type.String(), event_id: Type.String() }),
  `select distinct provider, event_id from billing_adjustments
   where (transaction_id, provider) in (select * from unnest($1::text[], $2::text[]))`,
);

/** Finds the events of refunds and disputes of payments. */
export async function findAdjustmentEvents(
  db: Queryable,
  payments: readonly LedgerKey[],
): Promise<{ provider: string; eventId: string }[]> {
  const rows = await queryRows(db, adjustmentsStatement, toColumns(payments, ['id', 'provider']));
  return rows.map(({ provider, event_id: eventId }) => ({ provider, eventId }));
}

const keyEmailsStatement = defineStatement(
  'customer_find_key_emails',
  Type.Object({ provider: Type.String(), transaction_id: Type.String() }),
  `select provider, transaction_id from key_emails
   where address_hash = any ($1::text[])
      or (transaction_id, provider) in (
           select transaction_id, provider from billing_licenses where license_id = any ($2::uuid[]))`,
);

/** Finds the e-mails with keys to an address, sent or queued. Reads all of them. */
export async function findKeyEmails(
  db: Queryable,
  addressHashes: readonly string[],
  licenseIds: readonly string[],
): Promise<KeyEmailKey[]> {
  const parameters = [addressHashes, licenseIds];
  const rows = await queryRows(db, keyEmailsStatement, parameters, LONG_STATEMENT_MS);
  return rows.map(({ provider, transaction_id: transactionId }) => ({ provider, transactionId }));
}

const messagesStatement = defineStatement(
  'customer_find_messages',
  Type.Object({ id: Type.String() }),
  `select id from webhook_messages
   where lower(payload::jsonb -> 'data' ->> 'customer_email') = any ($1::text[])`,
);

/** Finds the messages of outgoing webhooks with an address. Reads all of the last 30 days. */
export async function findMessageIds(
  db: Queryable,
  spellings: readonly string[],
): Promise<string[]> {
  const rows = await queryRows(db, messagesStatement, [spellings], LONG_STATEMENT_MS);
  return rows.map(({ id }) => id);
}

const machinesStatement = defineStatement(
  'customer_find_machines',
  Type.Object({ install_id: Nullable.Text, machine_id: Nullable.Text }),
  'select distinct install_id, machine_id from activations where license_id = any ($1::uuid[])',
);

/** Finds the installs and machines on which licenses were activated. */
export async function findMachines(
  db: Queryable,
  licenseIds: readonly string[],
): Promise<{ installIds: string[]; machineIds: string[] }> {
  const rows = await queryRows(db, machinesStatement, [licenseIds]);
  return {
    installIds: listKnown(rows.map((row) => row.install_id)),
    machineIds: listKnown(rows.map((row) => row.machine_id)),
  };
}

function listKnown(values: readonly (string | null)[]): string[] {
  return [...new Set(values)].filter((value) => value !== null);
}
