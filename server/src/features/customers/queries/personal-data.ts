import { Type } from 'typebox';

import {
  defineStatement,
  queryRows,
  type Parameter,
  type Queryable,
  toColumns,
} from '#server/db/statement.ts';
import { toByteaArray } from '#server/db/hot-statement.ts';

import type { Person } from '../facts.ts';

/** A row as JSON, under the names of its columns. */
export type PersonalDataRow = Readonly<Record<string, unknown>>;

const Row = Type.Object({ row: Type.Record(Type.String(), Type.Unknown()) });

/** Some statements read a whole table. */
const LONG_STATEMENT_MS = 60_000;

/** A table with personal data, and the condition for the rows of one person. */
interface Source {
  readonly table: string;
  /** SQL on the table as `source`. */
  readonly where: string;
  readonly parameters: (person: Person, machineKeys: readonly string[]) => readonly Parameter[];
  /** Keyed hashes and sealed bytes, which cannot be read without the master secret. */
  readonly omit?: readonly string[];
}

const byLicense = ({ licenseIds }: Person): Parameter[] => [licenseIds];
const byAddress = ({ address }: Person): Parameter[] => [toByteaArray(address.hashes)];
const byLedger =
  (kind: 'payment' | 'subscription') =>
  ({ ledger }: Person): Parameter[] =>
    toColumns(
      ledger.filter((row) => row.kind === kind),
      ['id', 'provider', 'eventId'],
    );
const IN_LEDGER = 'in (select * from unnest($1::text[], $2::text[], $3::text[]))';
const HAS_ADDRESS = 'address_hash = any ($1::bytea[])';

/** Without payment events and the events of installs, which are read separately. */
export const SOURCES: readonly Source[] = [
  {
    table: 'licenses',
    where: 'id = any ($1::uuid[])',
    parameters: byLicense,
    omit: ['key_sealed'],
  },
  { table: 'license_transactions', where: 'license_id = any ($1::uuid[])', parameters: byLicense },
  {
    table: 'activations',
    where: 'license_id = any ($1::uuid[])',
    parameters: byLicense,
    omit: ['components', 'machine_digest', 'entitlement_proof'],
  },
  {
    table: 'usage_days',
    where: 'machine_key = any ($1::uuid[])',
    parameters: (_person, machineKeys) => [machineKeys],
  },
  {
    table: 'billing_customers',
    where: '(customer_id, provider) in (select * from unnest($1::text[], $2::text[]))',
    parameters: ({ customers }) => toColumns(customers, ['customerId', 'provider']),
  },
  {
    table: 'billing_payments',
    where: `(transaction_id, provider, event_id) ${IN_LEDGER}`,
    parameters: byLedger('payment'),
  },
  {
    table: 'billing_subscriptions',
    where: `(subscription_id, provider, event_id) ${IN_LEDGER}`,
    parameters: byLedger('subscription'),
  },
  {
    table: 'key_emails',
    where: '(transaction_id, provider) in (select * from unnest($1::text[], $2::text[]))',
    parameters: ({ keyEmails }) => toColumns(keyEmails, ['transactionId', 'provider']),
  },
  { table: 'subscribers', where: HAS_ADDRESS, parameters: byAddress },
  {
    table: 'subscriber_confirmations',
    where: HAS_ADDRESS,
    parameters: byAddress,
    omit: ['token_hash'],
  },
  { table: 'suppressions', where: HAS_ADDRESS, parameters: byAddress },
  { table: 'outreach_messages', where: HAS_ADDRESS, parameters: byAddress },
  {
    table: 'webhook_messages',
    where: 'id = any ($1::text[])',
    parameters: ({ messageIds }) => [messageIds],
  },
  {
    table: 'audit_log',
    where: 'subject_id = any ($1::text[])',
    parameters: ({ address, licenseIds }) => [[...address.ids, ...licenseIds]],
  },
];

const statements = new Map(
  SOURCES.map(({ table, where, omit = [] }) => [
    table,
    defineStatement(
      `customer_list_${table}`,
      Row,
      `select to_jsonb(source) - '{${omit.join(',')}}'::text[] as row from ${table} as source where ${where}`,
    ),
  ]),
);

/** Lists the rows of one table about a person. */
export async function listPersonalDataRows(
  db: Queryable,
  { table, parameters }: Source,
  person: Person,
  machineKeys: readonly string[],
): Promise<PersonalDataRow[]> {
  const statement = statements.get(table);
  if (statement === undefined) return [];
  const values = parameters(person, machineKeys);
  const rows = await queryRows(db, statement, values, LONG_STATEMENT_MS);
  return rows.map(({ row }) => row);
}
