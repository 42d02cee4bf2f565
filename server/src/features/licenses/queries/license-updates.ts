import { Type } from 'typebox';

import {
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRows,
  Timestamp,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

import type { UpdatesEntry } from '../rules/updates-until.ts';
import { LicenseRow, type LicenseRecord } from './licenses.ts';

const UpdatesRow = Type.Object({
  licenseId: Type.String(),
  provider: Type.String(),
  transactionId: Type.String(),
  lineKey: Type.String(),
  kind: Type.Enum(['sale', 'renewal', 'manual']),
  days: Type.Union([Type.Integer(), Type.Null()]),
  endsAt: Nullable.Timestamp,
  paidAt: Timestamp,
  withdrawnAt: Nullable.Timestamp,
});

const listStatement = defineStatement(
  'license_update_list',
  UpdatesRow,
  `select ${columnsOf(UpdatesRow)} from license_updates
   where license_id = any ($1::uuid[]) or license_id in (
     select license_id from license_updates
     where (transaction_id, provider) in (select * from unnest($2::text[], $3::text[]))
   )`,
);

/** Lists what moves the end of updates of licenses, and of the licenses that transactions renew. */
export async function listLicenseUpdates(
  db: Queryable,
  licenseIds: readonly string[],
  transactions: readonly Pick<UpdatesEntry, 'provider' | 'transactionId'>[],
): Promise<UpdatesEntry[]> {
  const keys = toColumns(transactions, ['transactionId', 'provider']);
  return queryRows(db, listStatement, [licenseIds, ...keys]);
}

const upsertStatement = defineCommand(
  'license_update_upsert_many',
  `insert into license_updates (${columnsOf(UpdatesRow)})
   select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::timestamptz[],
                        $8::timestamptz[], $9::timestamptz[])
   on conflict (license_id, provider, transaction_id, line_key) do update
     set kind = excluded.kind, days = excluded.days, ends_at = excluded.ends_at, paid_at = excluded.paid_at,
         withdrawn_at = excluded.withdrawn_at`,
);

/** Stores what moves the end of updates of licenses; an entry replaces the earlier one of its line. */
export async function upsertLicenseUpdates(
  db: Queryable,
  entries: readonly UpdatesEntry[],
): Promise<void> {
  await execute(
    db,
    upsertStatement,
    toColumns(entries, [
      'licenseId',
      'provider',
      'transactionId',
      'lineKey',
      'kind',
      'days',
      'endsAt',
      'paidAt',
      'withdrawnAt',
    ]),
  );
}

const deleteStatement = defineCommand(
  'license_update_delete_many',
  `delete from license_updates
   where (license_id, provider, transaction_id, line_key) in (
     select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
   )`,
);

/** Deletes entries of lines that no longer move the end of updates. */
export async function deleteLicenseUpdates(
  db: Queryable,
  entries: readonly UpdatesEntry[],
): Promise<void> {
  await execute(
    db,
    deleteStatement,
    toColumns(entries, ['licenseId', 'provider', 'transactionId', 'lineKey']),
  );
}

const updateEndsStatement = defineStatement(
  'license_update_ends',
  LicenseRow,
  `update licenses as l set updates_until = next.updates_until
   from unnest($1::uuid[], $2::timestamptz[]) as next (id, updates_until)
   where l.id = next.id and l.updates_until is distinct from next.updates_until
   returning ${columnsOf(LicenseRow, 'l')}`,
);

/** Updates the ends of updates of licenses, and returns the changed licenses. */
export async function updateUpdatesUntil(
  db: Queryable,
  ends: readonly Pick<LicenseRecord, 'id' | 'updatesUntil'>[],
): Promise<LicenseRecord[]> {
  return queryRows(db, updateEndsStatement, toColumns(ends, ['id', 'updatesUntil']));
}

/** Returns the entry of a manual change. @param updatesUntil null: all updates */
export function manualUpdates(
  licenseId: string,
  updatesUntil: Date | null,
  changedAt: Date,
): UpdatesEntry {
  return {
    licenseId,
    provider: '',
    transactionId: '',
    lineKey: '',
    kind: 'manual',
    days: null,
    endsAt: updatesUntil,
    paidAt: changedAt,
    withdrawnAt: null,
  };
}
