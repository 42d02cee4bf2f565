import type { PoolClient } from 'pg';

import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { lockBilling } from '../billing/queries/ledger.ts';
import { removeAddedKeys } from '../licenses/added-keys.ts';
import { deleteSeatsOfImport } from '../licenses/queries/imported-seats.ts';
import type { ImportDependencies } from './dependencies.ts';
import {
  deleteImportedLicenses,
  listImportedLicenses,
  type ListedLicense,
} from './queries/imported-licenses.ts';
import { findImport, recordUndo } from './queries/imports.ts';
import { lockLicenses, removeLicenses } from './queries/remove-licenses.ts';
import { stateOf, type LicenseState } from './rules/license-state.ts';
import { undoExtensions } from './undo-extensions.ts';

/** Licenses in one transaction, which holds the lock of billing. */
const PAGE_SIZE = 100;

/** A license that stays, or whose later end stays. */
export interface KeptLicense {
  readonly licenseId: string;
  readonly sourceId: string;
  readonly state: LicenseState;
}

/** The result of undoing an import. */
export interface UndoResult {
  readonly removed: number;
  /** Licenses that existed before the import and are only no longer connected with it. */
  readonly released: number;
  /** Licenses of earlier imports that end again when they ended before this one. */
  readonly restored: number;
  /** Licenses that stay, by what happened to them. */
  readonly kept: Readonly<Record<'activated' | 'paid' | 'changed', number>>;
}

export interface UndoRequest {
  readonly importId: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly dryRun: boolean;
}

/**
 * Removes the licenses that an import created and the keys that it added, and restores the ends that it extended, except of
 * licenses that were activated, paid or changed since. In transactions of
 * some licenses each, so that it can be interrupted and repeated.
 * @param onKept called for each license that stays
 * @returns null for an unknown import
 */
export async function undoImport(
  deps: ImportDependencies,
  request: UndoRequest,
  onKept: (license: KeptLicense) => void = () => {},
): Promise<UndoResult | null> {
  if ((await findImport(deps.pool, request.importId)) === null) return null;
  const counts = { untouched: 0, linked: 0, activated: 0, paid: 0, changed: 0 };
  for (let after = ''; ;) {
    const page = await undoPage(deps, request, after);
    const last = page.at(-1);
    if (last === undefined) break;
    for (const license of page) {
      counts[license.state] += 1;
      if (license.state !== 'untouched' && license.state !== 'linked') onKept(license);
    }
    after = last.sourceId;
  }
  const { untouched: removed, linked: released, ...kept } = counts;
  const restored = await undoExtensions(deps, request, (license) => {
    if (license.state === 'activated' || license.state === 'paid') kept[license.state] += 1;
    else kept.changed += 1;
    onKept(license);
  });
  const result = { removed, released, restored, kept };
  if (!request.dryRun) await recordEnd(deps, request, result);
  return result;
}

/** A license of an import and its state. */
type StatedLicense = ListedLicense & { readonly state: LicenseState };

async function undoPage(
  deps: ImportDependencies,
  { importId, dryRun }: UndoRequest,
  after: string,
): Promise<StatedLicense[]> {
  if (dryRun) {
    const page = await listImportedLicenses(deps.pool, importId, after, PAGE_SIZE);
    return page.map(withState);
  }
  return inTransaction(deps.pool, async (client) => {
    await lockBilling(client);
    const page = await lockPage(client, importId, after);
    await removeLicenses(client, idsOf(page, 'untouched'));
    const linked = idsOf(page, 'linked');
    await removeAddedKeys(deps, client, importId, linked);
    await deleteSeatsOfImport(client, importId, linked);
    await deleteImportedLicenses(client, importId, linked);
    return page;
  });
}

/** Reads the states of the licenses once they are locked, because a machine may have been activated before. */
async function lockPage(
  client: PoolClient,
  importId: string,
  after: string,
): Promise<StatedLicense[]> {
  const found = await listImportedLicenses(client, importId, after, PAGE_SIZE);
  await lockLicenses(
    client,
    found.map(({ licenseId }) => licenseId),
  );
  const page = await listImportedLicenses(client, importId, after, PAGE_SIZE);
  return page.map(withState);
}

function withState(license: ListedLicense): StatedLicense {
  return { ...license, state: stateOf(license) };
}

function idsOf(page: readonly StatedLicense[], state: LicenseState): string[] {
  return page.filter((license) => license.state === state).map(({ licenseId }) => licenseId);
}

async function recordEnd(
  deps: ImportDependencies,
  { importId, actor, reason }: UndoRequest,
  { removed, released, restored, kept }: UndoResult,
): Promise<void> {
  const now = deps.clock.now();
  await inTransaction(deps.pool, async (client) => {
    await recordUndo(client, importId, now);
    const details = { removed, released, restored, ...kept };
    const entry = { occurredAt: now, actor, reason, subjectId: importId, details };
    await insertAuditEntry(client, { ...entry, action: 'license.import_undone' });
  });
}
