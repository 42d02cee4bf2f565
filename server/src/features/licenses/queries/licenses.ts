import { Type, type Static } from 'typebox';

import {
  Bytes,
  Nullable,
  Timestamp,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import type { LicenseFacts } from '../rules/facts.ts';

/** The columns of a license that the service reads. */
export const LicenseRow = Type.Object({
  id: Type.String(),
  product_id: Type.String(),
  tier: Type.String(),
  features: Type.Array(Type.String()),
  max_activations: Type.Integer(),
  trial: Type.Boolean(),
  subscription: Type.Boolean(),
  expires_at: Nullable.Timestamp,
  cancel_scheduled_for: Nullable.Timestamp,
  canceled_at: Nullable.Timestamp,
  paused_at: Nullable.Timestamp,
  suspended_at: Nullable.Timestamp,
  disputed_at: Nullable.Timestamp,
  refunded_at: Nullable.Timestamp,
  revoked_at: Nullable.Timestamp,
  key_sealed: Bytes,
  key_hint: Type.String(),
  customer_email: Nullable.Text,
  customer_name: Nullable.Text,
  note: Nullable.Text,
  created_at: Timestamp,
  reveal_until: Nullable.Timestamp,
});

/** A license: its facts, its sealed key, and its customer. */
export interface LicenseRecord extends LicenseFacts {
  readonly keySealed: Buffer;
  /** The last symbols of the key. */
  readonly keyHint: string;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  readonly note: string | null;
  /** Until when `check` shows the key for the checkout's id; null: never. */
  readonly revealUntil: Date | null;
}

/** The columns of {@link LicenseRow} in SQL. */
export const COLUMNS = Object.keys(LicenseRow.properties).join(', ');

const insertStatement = defineCommand(
  'license_insert',
  `insert into licenses (id, product_id, tier, features, max_activations, trial, subscription, expires_at,
                         cancel_scheduled_for, canceled_at, paused_at, disputed_at, refunded_at,
                         key_sealed, key_hint, customer_email, customer_name, note, created_at, reveal_until)
   select id, product_id, tier, features, max_activations, trial, subscription, expires_at,
          cancel_scheduled_for, canceled_at, paused_at, disputed_at, refunded_at,
          decode(key_sealed, 'base64'), key_hint, customer_email, customer_name, note, created_at, reveal_until
   from jsonb_to_recordset($1::jsonb) as new (
     id uuid, product_id text, tier text, features text[], max_activations integer, trial boolean,
     subscription boolean, expires_at timestamptz, cancel_scheduled_for timestamptz, canceled_at timestamptz,
     paused_at timestamptz, disputed_at timestamptz, refunded_at timestamptz, key_sealed text, key_hint text,
     customer_email text, customer_name text, note text, created_at timestamptz, reveal_until timestamptz)`,
);

/** Stores new licenses. */
export async function insertLicenses(
  db: Queryable,
  licenses: readonly LicenseRecord[],
): Promise<void> {
  const rows = licenses.map((license) => ({
    id: license.id,
    product_id: license.productId,
    tier: license.tier,
    features: license.features,
    max_activations: license.maxActivations,
    trial: license.trial,
    subscription: license.subscription,
    expires_at: license.expiresAt,
    cancel_scheduled_for: license.cancelScheduledFor,
    canceled_at: license.canceledAt,
    paused_at: license.pausedAt,
    disputed_at: license.disputedAt,
    refunded_at: license.refundedAt,
    key_sealed: license.keySealed.toString('base64'),
    key_hint: license.keyHint,
    customer_email: license.customerEmail,
    customer_name: license.customerName,
    note: license.note,
    created_at: license.createdAt,
    reveal_until: license.revealUntil,
  }));
  await execute(db, insertStatement, [JSON.stringify(rows)]);
}

const findByIdStatement = defineStatement(
  'license_find_by_id',
  LicenseRow,
  `select ${COLUMNS} from licenses where id = $1`,
);

/** Finds a license by its id. */
export async function findLicense(db: Queryable, id: string): Promise<LicenseRecord | null> {
  return toRecord(await queryRow(db, findByIdStatement, [id]));
}

const lockByIdStatement = defineStatement(
  'license_lock_by_id',
  LicenseRow,
  `select ${COLUMNS} from licenses where id = $1 for update`,
);

/** Finds a license by its id, and locks it until the transaction ends. */
export async function lockLicense(db: Queryable, id: string): Promise<LicenseRecord | null> {
  return toRecord(await queryRow(db, lockByIdStatement, [id]));
}

const listByTransactionsStatement = defineStatement(
  'license_list_by_transactions',
  Type.Object({ transaction_id: Type.String(), ...LicenseRow.properties }),
  `select checkout.transaction_id, ${COLUMNS.replaceAll(/(\w+)/g, 'found.$1')}
   from unnest($1::text[]) as checkout (transaction_id)
   cross join lateral (
     select l.*, t.position
     from license_transactions t join licenses l on l.id = t.license_id
     where t.transaction_id = checkout.transaction_id
     order by t.position, l.id
     limit 100
   ) as found
   order by found.position, found.id`,
);

/**
 * Lists the licenses of each checkout, in the order of the checkouts. Each list is in the order of the checkout's line
 * items, and empty for an unknown checkout.
 */
export async function listLicensesByTransactions(
  db: Queryable,
  transactionIds: readonly string[],
): Promise<LicenseRecord[][]> {
  const rows = await queryRows(db, listByTransactionsStatement, [[...new Set(transactionIds)]]);
  const rowsOf = Map.groupBy(rows, (row) => row.transaction_id);
  return transactionIds.map((id) => (rowsOf.get(id) ?? []).map(fromRow));
}

const listByIdsStatement = defineStatement(
  'license_list_by_ids',
  LicenseRow,
  `select ${COLUMNS} from licenses where id = any ($1::uuid[])`,
);

/** Lists licenses by their ids. */
export async function listLicensesByIds(
  db: Queryable,
  ids: readonly string[],
): Promise<LicenseRecord[]> {
  return (await queryRows(db, listByIdsStatement, [ids])).map(fromRow);
}

const listPageStatement = defineStatement(
  'license_list_page',
  LicenseRow,
  `select ${COLUMNS} from licenses where id > $1 order by id limit $2`,
);

/** A statement of its own, because only such a statement uses the index of trials. */
const listTrialsPageStatement = defineStatement(
  'license_list_trials_page',
  LicenseRow,
  `select ${COLUMNS} from licenses where id > $1 and trial order by id limit $2`,
);

/**
 * Lists a page of all licenses or of all trials, in the order of their ids, which is that of their creation.
 * @param afterId the last id of the previous page, or the nil UUID
 */
export async function listLicensesAfter(
  db: Queryable,
  afterId: string,
  options: { readonly trialsOnly: boolean; readonly limit: number },
): Promise<LicenseRecord[]> {
  const statement = options.trialsOnly ? listTrialsPageStatement : listPageStatement;
  const rows = await queryRows(db, statement, [afterId, options.limit]);
  return rows.map(fromRow);
}

const listSoldTermsStatement = defineStatement(
  'license_list_sold_terms',
  Type.Object({ id: Type.String(), tier: Type.String(), features: Type.Array(Type.String()) }),
  'select id, tier, features from licenses where id = any ($1::uuid[])',
);

/** Returns the terms under which licenses were sold, by their ids. */
export async function listSoldTerms(
  db: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { tier: string; features: readonly string[] }>> {
  const rows = await queryRows(db, listSoldTermsStatement, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

const updateFactsStatement = defineCommand(
  'license_update_facts',
  `update licenses set expires_at = $2, suspended_at = $3, revoked_at = $4, paused_at = $5,
                       canceled_at = $6, refunded_at = $7, max_activations = $8
   where id = $1`,
);

/** Updates the facts of a locked license. */
export async function updateLicenseFacts(db: Queryable, license: LicenseFacts): Promise<void> {
  await execute(db, updateFactsStatement, [
    license.id,
    license.expiresAt,
    license.suspendedAt,
    license.revokedAt,
    license.pausedAt,
    license.canceledAt,
    license.refundedAt,
    license.maxActivations,
  ]);
}

const updateKeyStatement = defineCommand(
  'license_update_key',
  'update licenses set key_sealed = $2, key_hint = $3 where id = $1',
);

/** Replaces the sealed key of a locked license. */
export async function updateLicenseKey(
  db: Queryable,
  { id, keySealed, keyHint }: Pick<LicenseRecord, 'id' | 'keySealed' | 'keyHint'>,
): Promise<void> {
  await execute(db, updateKeyStatement, [id, keySealed, keyHint]);
}

const recordExtensionStatement = defineCommand(
  'license_record_extension',
  `update licenses set extended_until = coalesce($2::timestamptz, 'infinity') where id = $1`,
);

/** Stores an operator's extension of a license, which no payment moves back; null is perpetual. */
export async function recordExtension(
  db: Queryable,
  licenseId: string,
  until: Date | null,
): Promise<void> {
  await execute(db, recordExtensionStatement, [licenseId, until]);
}

function toRecord(row: Static<typeof LicenseRow> | null): LicenseRecord | null {
  return row === null ? null : fromRow(row);
}

/** Converts a row to a license. */
export function fromRow(row: Static<typeof LicenseRow>): LicenseRecord {
  return {
    id: row.id,
    productId: row.product_id,
    tier: row.tier,
    features: row.features,
    maxActivations: row.max_activations,
    trial: row.trial,
    subscription: row.subscription,
    expiresAt: row.expires_at,
    cancelScheduledFor: row.cancel_scheduled_for,
    canceledAt: row.canceled_at,
    pausedAt: row.paused_at,
    suspendedAt: row.suspended_at,
    disputedAt: row.disputed_at,
    refundedAt: row.refunded_at,
    revokedAt: row.revoked_at,
    keySealed: row.key_sealed,
    keyHint: row.key_hint,
    customerEmail: row.customer_email,
    customerName: row.customer_name,
    note: row.note,
    createdAt: row.created_at,
    revealUntil: row.reveal_until,
  };
}
