import { Type } from 'typebox';

import {
  Bytes,
  Nullable,
  Timestamp,
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  toJsonRows,
  type Queryable,
} from '#server/db/statement.ts';

import { StatusRow } from '../facts.ts';
import type { LicenseFacts } from '../rules/facts.ts';

/** The columns of a license that the service reads. */
export const LicenseRow = Type.Object({
  ...StatusRow.properties,
  tier: Type.String(),
  features: Type.Array(Type.String()),
  maxActivations: Type.Integer(),
  keySealed: Bytes,
  keyHint: Type.String(),
  customerEmail: Nullable.Text,
  customerName: Nullable.Text,
  note: Nullable.Text,
  isTest: Type.Boolean(),
  createdAt: Timestamp,
  revealUntil: Nullable.Timestamp,
});

/** A license: its facts, its sealed key, and its customer. */
export interface LicenseRecord extends LicenseFacts {
  readonly keySealed: Buffer;
  /** The last symbols of the key. */
  readonly keyHint: string;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  readonly note: string | null;
  /** Whether a purchase in a provider's test mode created it. */
  readonly isTest: boolean;
  /** Until when `check` shows the key for the checkout's id; null: never. */
  readonly revealUntil: Date | null;
}

const COLUMNS = columnsOf(LicenseRow);

const insertStatement = defineCommand(
  'license_insert',
  `insert into licenses (${COLUMNS})
   select ${COLUMNS} from jsonb_populate_recordset(null::licenses, $1::jsonb)`,
);

/** Stores new licenses. */
export async function insertLicenses(
  db: Queryable,
  licenses: readonly LicenseRecord[],
): Promise<void> {
  await execute(db, insertStatement, [toJsonRows(licenses)]);
}

const findByIdStatement = defineStatement(
  'license_find_by_id',
  LicenseRow,
  `select ${COLUMNS} from licenses where id = $1`,
);

/** Finds a license by its id. */
export async function findLicense(db: Queryable, id: string): Promise<LicenseRecord | null> {
  return queryRow(db, findByIdStatement, [id]);
}

const lockByIdStatement = defineStatement(
  'license_lock_by_id',
  LicenseRow,
  `select ${COLUMNS} from licenses where id = $1 for update`,
);

/** Finds a license by its id, and locks it until the transaction ends. */
export async function lockLicense(db: Queryable, id: string): Promise<LicenseRecord | null> {
  return queryRow(db, lockByIdStatement, [id]);
}

/** A license of a checkout. */
export interface CheckoutLicense extends LicenseRecord {
  /** Whether the checkout renewed a license that existed. True if that is unknown: then the license has several checkouts. */
  readonly isRenewed: boolean;
}

const OWN_CHECKOUT = `select from billing_licenses own
     where own.license_id = t.license_id and not own.renews and (
       own.transaction_id = t.transaction_id or exists (
         select from billing_payments paid
         where paid.transaction_id = own.transaction_id and paid.provider = own.provider
           and paid.fact->>'checkoutId' = t.transaction_id))`;

const listByTransactionsStatement = defineStatement(
  'license_list_by_transactions',
  Type.Object({
    transactionId: Type.String(),
    isRenewed: Type.Boolean(),
    ...LicenseRow.properties,
  }),
  `select checkout.transaction_id, found.is_renewed as "isRenewed", ${columnsOf(LicenseRow, 'found')}
   from unnest($1::text[]) as checkout (transaction_id)
   cross join lateral (
     select l.*, t.position,
       exists (select from billing_licenses billed where billed.license_id = t.license_id and billed.renews)
         and not exists (${OWN_CHECKOUT}) as is_renewed
     from license_transactions t join licenses l on l.id = t.license_id
     where t.transaction_id = checkout.transaction_id
     order by t.position, l.id
     limit 1000
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
): Promise<CheckoutLicense[][]> {
  const rows = await queryRows(db, listByTransactionsStatement, [[...new Set(transactionIds)]]);
  const rowsOf = Map.groupBy(rows, (row) => row.transactionId);
  return transactionIds.map((id) => rowsOf.get(id) ?? []);
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
  return queryRows(db, listByIdsStatement, [ids]);
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
  return queryRows(db, statement, [afterId, options.limit]);
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
                       canceled_at = $6, refunded_at = $7, max_activations = $8, updates_until = $9
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
    license.updatesUntil,
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

const findVersionStatement = defineStatement(
  'license_find_version',
  Type.Object({ version: Type.Integer() }),
  'select version from licenses where id = $1',
);

/** Returns the version of a license, which every update increases. */
export async function findLicenseVersion(db: Queryable, id: string): Promise<number | null> {
  return (await queryRow(db, findVersionStatement, [id]))?.version ?? null;
}

const updateOwnerStatement = defineCommand(
  'license_update_owner',
  `update licenses set customer_email = $2, customer_name = $3, note = $4,
                       owner_changed_at = coalesce($5, owner_changed_at)
   where id = $1`,
);

/**
 * Updates the customer and the note of a locked license.
 * @param changedAt when the customer changed; null: only the note did
 */
export async function updateOwner(
  db: Queryable,
  license: Pick<LicenseRecord, 'id' | 'customerEmail' | 'customerName' | 'note'>,
  changedAt: Date | null,
): Promise<void> {
  const { id, customerEmail, customerName, note } = license;
  await execute(db, updateOwnerStatement, [id, customerEmail, customerName, note, changedAt]);
}

const recordLimitStatement = defineCommand(
  'license_record_limit',
  'update licenses set granted_activations = $2 where id = $1',
);

/** Stores an operator's limit of machines, below which no payment sets it. */
export async function recordLimit(db: Queryable, licenseId: string, limit: number): Promise<void> {
  await execute(db, recordLimitStatement, [licenseId, limit]);
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
