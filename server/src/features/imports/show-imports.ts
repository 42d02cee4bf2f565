import type { ImportDependencies } from './dependencies.ts';
import { listImportedLicenses, type ListedLicense } from './queries/imported-licenses.ts';
import {
  findImport,
  listImports,
  type ImportRecord,
  type ListedImport,
} from './queries/imports.ts';
import { stateOf, type LicenseState } from './rules/license-state.ts';

const MAX_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A page of imports, newest first. */
export interface ImportPage {
  readonly imports: readonly ListedImport[];
  /** Null after the last page. */
  readonly nextCursor: string | null;
}

/** Lists imports, newest first. */
export async function listAllImports(
  { pool }: ImportDependencies,
  cursor: string | null,
  limit: number,
): Promise<ImportPage> {
  const rows = await listImports(pool, cursor ?? MAX_UUID, limit + 1);
  const imports = rows.slice(0, limit);
  return { imports, nextCursor: rows.length > limit ? (imports.at(-1)?.id ?? null) : null };
}

/** An import and a part of its licenses. */
export interface ShownImport {
  readonly record: ImportRecord;
  readonly licenses: readonly (ListedLicense & { readonly state: LicenseState })[];
  /** Whether it has more licenses. */
  readonly hasMore: boolean;
}

/** Returns an import with its first licenses, by their ids in the source; null for an unknown one. */
export async function showImport(
  { pool }: ImportDependencies,
  importId: string,
  limit: number,
): Promise<ShownImport | null> {
  const record = await findImport(pool, importId);
  if (record === null) return null;
  const rows = await listImportedLicenses(pool, importId, '', limit + 1);
  const licenses = rows.slice(0, limit).map((row) => ({ ...row, state: stateOf(row) }));
  return { record, licenses, hasMore: rows.length > limit };
}
