import { inTransaction } from '#server/db/transaction.ts';

import { lockBilling } from '../billing/queries/ledger.ts';
import type { ImportDependencies } from './dependencies.ts';
import { listExtendedLicenses, restoreEnds, type ExtendedLicense } from './queries/extensions.ts';
import { lockLicenses } from './queries/remove-licenses.ts';
import { stateOf } from './rules/license-state.ts';
import type { KeptLicense, UndoRequest } from './undo-import.ts';

/** Licenses in one transaction, which holds the lock of billing. */
const PAGE_SIZE = 100;

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/**
 * Restores the ends that an import extended, and returns their number.
 * @param onKept called for each license that was activated, paid or changed since, and keeps its end
 */
export async function undoExtensions(
  deps: ImportDependencies,
  request: UndoRequest,
  onKept: (license: KeptLicense) => void,
): Promise<number> {
  let restored = 0;
  for (let after = NIL_UUID; ;) {
    const page = await undoPage(deps, request, after);
    const last = page.at(-1);
    if (last === undefined) return restored;
    for (const license of page) {
      if (license.state === 'untouched') restored += 1;
      else onKept(license);
    }
    after = last.licenseId;
  }
}

async function undoPage(
  deps: ImportDependencies,
  { importId, dryRun }: UndoRequest,
  after: string,
): Promise<KeptLicense[]> {
  if (dryRun) {
    const page = await listExtendedLicenses(deps.pool, importId, after, PAGE_SIZE);
    return page.map(withState);
  }
  return inTransaction(deps.pool, async (client) => {
    await lockBilling(client);
    const found = await listExtendedLicenses(client, importId, after, PAGE_SIZE);
    const ids = found.map(({ licenseId }) => licenseId);
    await lockLicenses(client, ids);
    const page = await listExtendedLicenses(client, importId, after, PAGE_SIZE);
    const kept = page.map(withState);
    const untouched = kept.filter(({ state }) => state === 'untouched');
    await restoreEnds(
      client,
      importId,
      untouched.map(({ licenseId }) => licenseId),
    );
    return kept;
  });
}

function withState({ licenseId, sourceId, ...facts }: ExtendedLicense): KeptLicense {
  return { licenseId, sourceId, state: stateOf({ isCreated: true, ...facts }) };
}
