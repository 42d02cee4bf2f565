import { Type } from 'typebox';

import {
  defineStatement,
  queryRows,
  type Parameter,
  type Queryable,
  type Statement,
  toColumns,
} from '#server/db/statement.ts';
import { toByteaArray } from '#server/db/hot-statement.ts';

import type { Person } from '../facts.ts';

/** A row as JSON, under the names of its columns. */
export type PersonalDataRow = Readonly<Record<string, unknown>>;

const Row = Type.Object({ row: Type.Record(Type.String(), Type.Unknown()) });

/** Some statements read a whole table. */
const LONG_STATEMENT_MS = 60_000;

/** A table with personal data, and how the rows of one person are read. */
interface Source {
  readonly table: string;
  readonly statement: Statement<typeof Row>;
  readonly parameters: ReadParameters;
}

type ReadParameters = (person: Person, machineKeys: readonly string[]) => readonly Parameter[];

/**
 * @param where SQL on the table as `source`
 * @param omit keyed hashes and sealed bytes, which cannot be read without the master secret
 */
function defineSource(
  table: string,
  where: string,
  parameters: ReadParameters,
  omit: readonly string[] = [],
): Source {
  // Without `.*`, a column named `source` would be read instead of the row.
  const statement = defineStatement(
    `customer_list_${table}`,
    Row,
    `select to_jsonb(source.*) - '{${omit.join(',')}}'::text[] as row from ${table} as source where ${where}`,
  );
  return { table, statement, parameters };
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
const OF_LICENSE = 'license_id = any ($1::uuid[])';
const IN_LEDGER = 'in (select * from unnest($1::text[], $2::text[], $3::text[]))';
const HAS_ADDRESS = 'address_hash = any ($1::bytea[])';

/** Without payment events and the events of installs, which are read separately. */
export const SOURCES: readonly Source[] = [
  defineSource('licenses', 'id = any ($1::uuid[])', byLicense, ['key_sealed']),
  defineSource('license_transactions', OF_LICENSE, byLicense),
  defineSource('imported_licenses', OF_LICENSE, byLicense, ['digest']),
  defineSource('imported_seats', OF_LICENSE, byLicense),
  defineSource('activations', OF_LICENSE, byLicense, [
    'components',
    'machine_digest',
    'entitlement_proof',
  ]),
  defineSource('usage_days', 'machine_key = any ($1::uuid[])', (_person, keys) => [keys]),
  defineSource(
    'billing_customers',
    '(customer_id, provider) in (select * from unnest($1::text[], $2::text[]))',
    ({ customers }) => toColumns(customers, ['customerId', 'provider']),
  ),
  defineSource(
    'billing_payments',
    `(transaction_id, provider, event_id) ${IN_LEDGER}`,
    byLedger('payment'),
  ),
  defineSource(
    'billing_subscriptions',
    `(subscription_id, provider, event_id) ${IN_LEDGER}`,
    byLedger('subscription'),
  ),
  defineSource('billing_repairs', `lower(fact->>'email') = any ($1::text[])`, ({ address }) => [
    address.spellings,
  ]),
  defineSource(
    'key_emails',
    '(transaction_id, provider) in (select * from unnest($1::text[], $2::text[]))',
    ({ keyEmails }) => toColumns(keyEmails, ['transactionId', 'provider']),
  ),
  defineSource('subscribers', HAS_ADDRESS, byAddress),
  defineSource('subscriber_confirmations', HAS_ADDRESS, byAddress, ['token_hash']),
  defineSource('buyer_codes', HAS_ADDRESS, byAddress, ['token_hash', 'email_sealed']),
  defineSource('owner_emails', 'lower(email) = any ($1::text[])', ({ address }) => [
    address.spellings,
  ]),
  defineSource('suppressions', HAS_ADDRESS, byAddress),
  defineSource('outreach_messages', HAS_ADDRESS, byAddress),
  defineSource('outreach_recipients', HAS_ADDRESS, byAddress),
  defineSource('webhook_messages', 'id = any ($1::text[])', ({ messageIds }) => [messageIds]),
  defineSource('webhook_attempts', 'message_id = any ($1::text[])', ({ messageIds }) => [
    messageIds,
  ]),
  defineSource(
    'audit_log',
    `subject_id = any ($1::text[])
     or subject_id in (select previous_id from audit_renamed_subjects where current_id = any ($1::text[]))`,
    ({ address, licenseIds }) => [[...address.ids, ...licenseIds]],
    ['hash'],
  ),
];

/** Lists the rows of one table about a person. */
export async function listPersonalDataRows(
  db: Queryable,
  { statement, parameters }: Source,
  person: Person,
  machineKeys: readonly string[],
): Promise<PersonalDataRow[]> {
  const values = parameters(person, machineKeys);
  const rows = await queryRows(db, statement, values, LONG_STATEMENT_MS);
  return rows.map(({ row }) => row);
}
