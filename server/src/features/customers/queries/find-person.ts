import { Type } from 'typebox';

import {
  Nullable,
  defineStatement,
  queryRows,
  type Queryable,
  toColumns,
} from '#server/db/statement.ts';

import type { CustomerKey, EventKey, LedgerKey, TransactionKey } from '../facts.ts';
import type { PersonsDevices } from './shared-devices.ts';

/** Some statements read whole tables, without an index, because they rarely run. */
const LONG_STATEMENT_MS = 5 * 60_000;

const licensesStatement = defineStatement(
  'customer_find_licenses',
  Type.Object({ id: Type.String() }),
  'select id from licenses where lower(customer_email) = any ($1::text[]) order by id',
);

/** Finds the licenses with an address. Reads all licenses. */
export async function listLicenseIds(
  db: Queryable,
  spellings: readonly string[],
): Promise<string[]> {
  const rows = await queryRows(db, licensesStatement, [spellings], LONG_STATEMENT_MS);
  return rows.map(({ id }) => id);
}

const customersStatement = defineStatement(
  'customer_find_customers',
  Type.Object({ provider: Type.String(), customerId: Type.String() }),
  `select provider, customer_id as "customerId" from billing_customers
   where lower(email) = any ($1::text[]) order by customer_id, provider`,
);

/** Finds the providers' customers with an address. Reads all customers. */
export async function listCustomers(
  db: Queryable,
  spellings: readonly string[],
): Promise<CustomerKey[]> {
  return queryRows(db, customersStatement, [spellings], LONG_STATEMENT_MS);
}

const IS_OF_PERSON = `(lower(fact->'customer'->>'email') = any ($1::text[])
      or lower(fact->'recipient'->>'email') = any ($1::text[])
      or fact->'customer'->>'email' is null
     and (customer_id, provider) in (select * from unnest($2::text[], $3::text[])))`;

const ledgerStatement = defineStatement(
  'customer_find_ledger',
  Type.Object({
    kind: Type.Enum(['payment', 'subscription']),
    id: Type.String(),
    provider: Type.String(),
    eventId: Type.String(),
  }),
  `select 'payment' as kind, transaction_id as id, provider, event_id as "eventId"
   from billing_payments where ${IS_OF_PERSON}
   union all
   select 'subscription', subscription_id, provider, event_id
   from billing_subscriptions where ${IS_OF_PERSON}`,
);

/**
 * Finds the ledger rows with an address, and those of its customers without one: a row with another address belongs to
 * another person. Reads the whole ledgers.
 */
export async function listLedgerRows(
  db: Queryable,
  spellings: readonly string[],
  customers: readonly CustomerKey[],
): Promise<LedgerKey[]> {
  const parameters = [spellings, ...toColumns(customers, ['customerId', 'provider'])];
  return queryRows(db, ledgerStatement, parameters, LONG_STATEMENT_MS);
}

const adjustmentsStatement = defineStatement(
  'customer_find_adjustments',
  Type.Object({ provider: Type.String(), eventId: Type.String() }),
  `select distinct provider, event_id as "eventId" from billing_adjustments
   where (transaction_id, provider) in (select * from unnest($1::text[], $2::text[]))`,
);

/** Finds the events of refunds and disputes of payments. */
export async function listAdjustmentEvents(
  db: Queryable,
  payments: readonly LedgerKey[],
): Promise<EventKey[]> {
  return queryRows(db, adjustmentsStatement, toColumns(payments, ['id', 'provider']));
}

const keyEmailsStatement = defineStatement(
  'customer_find_key_emails',
  Type.Object({ provider: Type.String(), transactionId: Type.String() }),
  `select provider, transaction_id as "transactionId" from key_emails
   where address_hash = any ($1::text[])
      or (transaction_id, provider) in (
           select transaction_id, provider from billing_licenses where license_id = any ($2::uuid[]))`,
);

/** Finds the e-mails with keys to an address, sent or queued. Reads all of them. */
export async function listKeyEmails(
  db: Queryable,
  addressHashes: readonly string[],
  licenseIds: readonly string[],
): Promise<TransactionKey[]> {
  return queryRows(db, keyEmailsStatement, [addressHashes, licenseIds], LONG_STATEMENT_MS);
}

const messagesStatement = defineStatement(
  'customer_find_messages',
  Type.Object({ id: Type.String() }),
  `select id from webhook_messages
   where lower(payload::jsonb -> 'data' ->> 'customer_email') = any ($1::text[])`,
);

/** Finds the messages of outgoing webhooks with an address. Reads all of the last 30 days. */
export async function listMessageIds(
  db: Queryable,
  spellings: readonly string[],
): Promise<string[]> {
  const rows = await queryRows(db, messagesStatement, [spellings], LONG_STATEMENT_MS);
  return rows.map(({ id }) => id);
}

const machinesStatement = defineStatement(
  'customer_find_machines',
  Type.Object({
    install_id: Nullable.Text,
    machine_id: Nullable.Text,
    machine_digest: Type.String(),
  }),
  'select distinct install_id, machine_id, machine_digest from activations where license_id = any ($1::uuid[])',
);

/** Finds the installs and machines on which licenses were activated. */
export async function findMachines(
  db: Queryable,
  licenseIds: readonly string[],
): Promise<PersonsDevices> {
  const rows = await queryRows(db, machinesStatement, [licenseIds]);
  return {
    licenseIds,
    installIds: listKnown(rows.map((row) => row.install_id)),
    machineIds: listKnown(rows.map((row) => row.machine_id)),
    machineDigests: listKnown(rows.map((row) => row.machine_digest)),
  };
}

function listKnown(values: readonly (string | null)[]): string[] {
  return [...new Set(values)].filter((value) => value !== null);
}
