import { defineCommand, execute, type Queryable } from '#server/db/statement.ts';

const extendStatement = defineCommand(
  'import_extend_license',
  `update licenses set expires_at = $2
   where id = $1 and expires_at is not null and ($2::timestamptz is null or expires_at < $2)
     and not exists (select from billing_licenses billed where billed.license_id = id)`,
);

/** Moves the end of a license without payments here to a later one; null is perpetual. */
export async function extendImportedLicense(
  db: Queryable,
  licenseId: string,
  expiresAt: Date | null,
): Promise<void> {
  await execute(db, extendStatement, [licenseId, expiresAt]);
}
