import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  queryRows,
  Timestamp,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

import type { KnownLicense } from '../facts.ts';

/** A license of an import. */
export interface ImportedLicenseRecord {
  readonly source: string;
  readonly sourceId: string;
  readonly importId: string;
  readonly licenseId: string;
  readonly isCreated: boolean;
  readonly digest: string;
  readonly expiresAt: Date | null;
  readonly sourceCreatedAt: Date | null;
  readonly details: Readonly<Record<string, string>>;
}

const insertStatement = defineCommand(
  'imported_license_insert_many',
  `insert into imported_licenses
     (source, source_id, import_id, license_id, is_created, digest, expires_at, source_created_at, details)
   select * from unnest($1::text[], $2::text[], $3::uuid[], $4::uuid[], $5::boolean[], $6::text[],
                        $7::timestamptz[], $8::timestamptz[], $9::jsonb[])`,
);

/** Stores licenses of an import. */
export async function insertImportedLicenses(
  db: Queryable,
  records: readonly ImportedLicenseRecord[],
): Promise<void> {
  const rows = records.map((each) => ({ ...each, details: JSON.stringify(each.details) }));
  const names = [
    'source',
    'sourceId',
    'importId',
    'licenseId',
    'isCreated',
    'digest',
    'expiresAt',
    'sourceCreatedAt',
    'details',
  ] as const;
  await execute(db, insertStatement, toColumns(rows, names));
}

const KnownRow = Type.Object({
  sourceId: Type.String(),
  licenseId: Type.String(),
  digest: Type.String(),
  expiresAt: Nullable.Timestamp,
  isPaid: Type.Boolean(),
});

const listKnownStatement = defineStatement(
  'imported_license_list_known',
  KnownRow,
  `select source_id, license_id, digest, expires_at,
          exists (select from billing_licenses billed where billed.license_id = imported_licenses.license_id) as is_paid
   from imported_licenses
   where source_id = any ($1::text[]) and source = $2`,
);

/** Lists the licenses of a source that were imported before. */
export async function listKnownLicenses(
  db: Queryable,
  source: string,
  sourceIds: readonly string[],
): Promise<KnownLicense[]> {
  return queryRows(db, listKnownStatement, [sourceIds, source]);
}

const updateEndStatement = defineCommand(
  'imported_license_update_end',
  'update imported_licenses set expires_at = $3 where source_id = $1 and source = $2',
);

/** Stores the later end of a license that was imported before. */
export async function updateImportedEnd(
  db: Queryable,
  { source, sourceId }: Pick<ImportedLicenseRecord, 'source' | 'sourceId'>,
  expiresAt: Date | null,
): Promise<void> {
  await execute(db, updateEndStatement, [sourceId, source, expiresAt]);
}

const PageRow = Type.Object({
  sourceId: Type.String(),
  source: Type.String(),
  licenseId: Type.String(),
  isCreated: Type.Boolean(),
  keyHint: Nullable.Text,
  productId: Nullable.Text,
  isActivated: Type.Boolean(),
  isPaid: Type.Boolean(),
  isChanged: Type.Boolean(),
});

/** A license of an import, and what happened to it since. */
export type ListedLicense = Readonly<Static<typeof PageRow>>;

/** What happened to the license `l` of the row `i` since its import. Of one that existed, only the use of what the import added counts. */
const EVENTS_SINCE = `
  case when i.is_created then
    exists (select from activations a where a.license_id = i.license_id)
      or exists (select from imported_seats s where s.license_id = i.license_id and s.used_at is not null)
      or exists (select from license_uses u where u.license_id = i.license_id)
  else
    exists (
      select from license_added_keys added join activations a on a.license_id = added.license_id
      where added.license_id = i.license_id and added.import_id = i.import_id
        and greatest(a.activated_at, a.last_validated_at) >= added.added_at
    )
    or exists (
      select from imported_seats s
      where s.license_id = i.license_id and s.import_id = i.import_id and s.used_at is not null
    )
    or exists (
      select from license_added_keys added join license_uses u on u.license_id = added.license_id
      where added.license_id = i.license_id and added.import_id = i.import_id
    )
  end as "isActivated",
  exists (select from billing_licenses b where b.license_id = i.license_id) as "isPaid",
  coalesce(l.version > i.license_version, true) as "isChanged"`;

const listPageStatement = defineStatement(
  'imported_license_list',
  PageRow,
  `select i.source_id as "sourceId", i.source, i.license_id as "licenseId", i.is_created as "isCreated",
          l.key_hint as "keyHint", l.product_id as "productId", ${EVENTS_SINCE}
   from imported_licenses i left join licenses l on l.id = i.license_id
   where i.import_id = $1 and i.source_id > $2
   order by i.source_id
   limit $3`,
);

/** Lists a page of the licenses of an import. @param afterSourceId the last one of the previous page, or an empty text */
export async function listImportedLicenses(
  db: Queryable,
  importId: string,
  afterSourceId: string,
  limit: number,
): Promise<ListedLicense[]> {
  return queryRows(db, listPageStatement, [importId, afterSourceId, limit]);
}

const deleteStatement = defineCommand(
  'imported_license_delete',
  `delete from imported_licenses
   where license_id = any ($2::uuid[]) and not is_created and (import_id = $1 or import_id > $1 and not exists (
     select from license_added_keys added
     where added.license_id = imported_licenses.license_id and added.import_id = imported_licenses.import_id
   ))`,
);

/**
 * Deletes the rows of licenses that existed before an import, also those of later imports that added nothing: they may have been
 * found by a key that is removed.
 */
export async function deleteImportedLicenses(
  db: Queryable,
  importId: string,
  licenseIds: readonly string[],
): Promise<void> {
  await execute(db, deleteStatement, [importId, licenseIds]);
}

const OriginRow = Type.Object({
  source: Type.String(),
  sourceId: Type.String(),
  sourceCreatedAt: Nullable.Timestamp,
  details: Type.Record(Type.String(), Type.String()),
  importedAt: Timestamp,
});

/** Where a license comes from. */
export type LicenseOrigin = Readonly<Static<typeof OriginRow>>;

const findOriginStatement = defineStatement(
  'imported_license_find_origin',
  OriginRow,
  `select i.source, i.source_id as "sourceId", i.source_created_at as "sourceCreatedAt", i.details,
          imports.started_at as "importedAt"
   from imported_licenses i join imports on imports.id = i.import_id
   where i.license_id = $1
   order by i.import_id
   limit 1`,
);

/** Finds the license's row in the system that it comes from; null for one that was not imported. */
export async function findOrigin(db: Queryable, licenseId: string): Promise<LicenseOrigin | null> {
  return queryRow(db, findOriginStatement, [licenseId]);
}
