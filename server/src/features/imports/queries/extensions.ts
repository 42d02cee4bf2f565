import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

/** A later end of a license in its source. */
export interface Extension {
  readonly licenseId: string;
  readonly importId: string;
  /** Null is perpetual. */
  readonly expiresAt: Date | null;
  /** The end as imported before. */
  readonly importedExpiresAt: Date | null;
  readonly extendedAt: Date;
}

const extendStatement = defineCommand(
  'import_extend_license',
  `with before as (
     select id, expires_at, version from licenses
     where id = $1 and expires_at is not null and ($3::timestamptz is null or expires_at < $3)
       and not exists (select from billing_licenses billed where billed.license_id = licenses.id)
     for update
   ), extended as (
     update licenses l set expires_at = $3 from before where l.id = before.id
     returning before.expires_at as previous_end, before.version as previous_version, l.version as license_version
   )
   insert into import_extensions (license_id, import_id, previous_expires_at, expires_at, imported_expires_at, extended_at,
                                  previous_version, license_version)
   select $1, $2, previous_end, $3, $4, $5, previous_version, license_version from extended
   on conflict (license_id, import_id) do update
     set expires_at = excluded.expires_at, extended_at = excluded.extended_at, license_version = excluded.license_version`,
);

/** Moves the end of a license without payments here to a later one, and records what it was. */
export async function extendImportedLicense(
  db: Queryable,
  { licenseId, importId, expiresAt, importedExpiresAt, extendedAt }: Extension,
): Promise<void> {
  const values = [licenseId, importId, expiresAt, importedExpiresAt, extendedAt];
  await execute(db, extendStatement, values);
}

const ExtendedRow = Type.Object({
  licenseId: Type.String(),
  sourceId: Type.String(),
  isActivated: Type.Boolean(),
  isPaid: Type.Boolean(),
  isChanged: Type.Boolean(),
});

/** A license whose end an import extended, and what happened to it since. */
export type ExtendedLicense = Readonly<Static<typeof ExtendedRow>>;

const listStatement = defineStatement(
  'import_extension_list',
  ExtendedRow,
  `select e.license_id,
          coalesce((select min(i.source_id) from imported_licenses i where i.license_id = e.license_id), '') as source_id,
          exists (
            select from activations a where a.license_id = e.license_id and a.activated_at >= e.extended_at
          ) as is_activated,
          exists (select from billing_licenses b where b.license_id = e.license_id) as is_paid,
          l.version is distinct from e.license_version as is_changed
   from import_extensions e left join licenses l on l.id = e.license_id
   where e.import_id = $1 and e.license_id > $2
   order by e.license_id
   limit $3`,
);

/** Lists a page of the licenses that an import extended. @param after the last license of the previous page */
export async function listExtendedLicenses(
  db: Queryable,
  importId: string,
  after: string,
  limit: number,
): Promise<ExtendedLicense[]> {
  return queryRows(db, listStatement, [importId, after, limit]);
}

const restoreStatement = defineCommand(
  'import_extension_restore',
  `with removed as (
     delete from import_extensions where license_id = any ($2::uuid[]) and import_id = $1 returning *
   ), restored as (
     update licenses l set expires_at = removed.previous_expires_at from removed where l.id = removed.license_id
     returning l.version, removed.*
   ), earlier as (
     update import_extensions e set license_version = restored.version from restored
     where e.license_id = restored.license_id and e.import_id <> $1 and e.license_version = restored.previous_version
   )
   update imported_licenses i
   set expires_at = case when i.source = imports.source and i.expires_at is not distinct from restored.expires_at
         then restored.imported_expires_at else i.expires_at end,
       license_version = case when i.license_version = restored.previous_version
         then restored.version else i.license_version end
   from restored, imports
   where i.license_id = restored.license_id and imports.id = $1`,
);

/** Restores the ends that an import extended, of locked licenses that did not change since. */
export async function restoreEnds(
  db: Queryable,
  importId: string,
  licenseIds: readonly string[],
): Promise<void> {
  await execute(db, restoreStatement, [importId, licenseIds]);
}
