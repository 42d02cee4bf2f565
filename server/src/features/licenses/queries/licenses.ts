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

/** Every column of a license that the service reads. */
export const LicenseRow = Type.Object({
  id: Type.String(),
  product_id: Type.String(),
  tier: Type.String(),
  features: Type.Array(Type.String()),
  max_activations: Type.Integer(),
  trial: Type.Boolean(),
  subscription: Type.Boolean(),
  expires_at: Nullable.Moment,
  cancel_scheduled_for: Nullable.Moment,
  canceled_at: Nullable.Moment,
  paused_at: Nullable.Moment,
  suspended_at: Nullable.Moment,
  disputed_at: Nullable.Moment,
  refunded_at: Nullable.Moment,
  revoked_at: Nullable.Moment,
  key_sealed: Bytes,
  key_hint: Type.String(),
  customer_email: Nullable.Text,
  customer_name: Nullable.Text,
  note: Nullable.Text,
  created_at: Timestamp,
  reveal_until: Nullable.Moment,
});

/** A whole license: its facts, its sealed key, and whom it was sold to. */
export interface LicenseRecord extends LicenseFacts {
  readonly keySealed: Buffer;
  /** The last symbols of the key. */
  readonly keyHint: string;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  readonly note: string | null;
  /** Until when `check` shows the key to whoever knows the checkout; null: never. */
  readonly revealUntil: Date | null;
}

/** The same as a list in SQL. */
export const COLUMNS = Object.keys(LicenseRow.properties).join(', ');

const insertStatement = defineCommand(
  'license_insert',
  `insert into licenses (id, product_id, tier, features, max_activations, trial, subscription, expires_at,
                         key_sealed, key_hint, customer_email, customer_name, note, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
);

/** Stores a new license, with no pause, refund or the like. */
export async function insertLicense(db: Queryable, license: LicenseRecord): Promise<void> {
  await execute(db, insertStatement, [
    license.id,
    license.productId,
    license.tier,
    license.features,
    license.maxActivations,
    license.trial,
    license.subscription,
    license.expiresAt,
    license.keySealed,
    license.keyHint,
    license.customerEmail,
    license.customerName,
    license.note,
    license.createdAt,
  ]);
}

const findByIdStatement = defineStatement(
  'license_find_by_id',
  LicenseRow,
  `select ${COLUMNS} from licenses where id = $1`,
);

/** A license by its id. */
export async function findLicense(db: Queryable, id: string): Promise<LicenseRecord | null> {
  return toRecord(await queryRow(db, findByIdStatement, [id]));
}

const lockByIdStatement = defineStatement(
  'license_lock_by_id',
  LicenseRow,
  `select ${COLUMNS} from licenses where id = $1 for update`,
);

/** A license by its id, locked until the transaction ends: nobody changes it in the meantime. */
export async function lockLicense(db: Queryable, id: string): Promise<LicenseRecord | null> {
  return toRecord(await queryRow(db, lockByIdStatement, [id]));
}

const listByTransactionsStatement = defineStatement(
  'license_list_by_transactions',
  Type.Object({ transaction_id: Type.String(), ...LicenseRow.properties }),
  `select wanted.transaction_id, ${COLUMNS.replaceAll(/(\w+)/g, 'made.$1')}
   from unnest($1::text[]) as wanted (transaction_id)
   cross join lateral (
     select l.*, t.position
     from license_transactions t join licenses l on l.id = t.license_id
     where t.transaction_id = wanted.transaction_id
     order by t.position, l.id
     limit 100
   ) as made
   order by made.position, made.id`,
);

/**
 * The licenses that checkouts made: one statement for all, one list for each, in order; each list in the order of the
 * checkout's line items, and empty for a checkout that nothing is known of.
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

/** Licenses by their ids. */
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

/** A statement of its own: the index of trials serves only a statement that asks for nothing else. */
const listTrialsPageStatement = defineStatement(
  'license_list_trials_page',
  LicenseRow,
  `select ${COLUMNS} from licenses where id > $1 and trial order by id limit $2`,
);

/**
 * A page of all licenses, or of the trials among them, in the order of their ids, which is that of their creation.
 * @param afterId the last id of the page before, or the nil UUID
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

/** What was sold with some licenses, as the catalogue said at the time, by their ids. */
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

/** Writes the facts of a locked license back. */
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

/** Remembers how far an operator moved the end of a license, which no payment moves back; null is for ever. */
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

/** Reads a row as a license. */
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
