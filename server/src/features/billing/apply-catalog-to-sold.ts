import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { LicenseRecord } from '../licenses/queries/licenses.ts';
import type { ApplyDependencies } from './dependencies.ts';
import { lockBilling } from './queries/ledger.ts';
import { listPurchaseEntries, listTransactionsOfLicense } from './queries/purchases.ts';
import { findRareRows } from './queries/rare-rows.ts';
import { insertSales, listSoldLicenses, takeSales } from './queries/sales.ts';
import { queueNotifications } from './queue-jobs.ts';
import { groupPurchases } from './rules/group-purchases.ts';
import { syncLicenses, type SyncedLicense, type SyncedLicenses } from './sync-licenses.ts';

/** Who applies the catalogue to sold licenses, and why. */
export interface CatalogChange {
  readonly actor: string;
  readonly reason: string;
  /** Whether to report the changes only. */
  readonly dryRun: boolean;
}

/** A license that the catalogue changes. */
export interface ChangedLicense {
  readonly before: LicenseRecord;
  readonly after: LicenseRecord;
}

/** The licenses of a transaction, which holds the lock of billing. */
const PAGE_SIZE = 20;

/** Ends a transaction without its changes. */
class RolledBack extends Error {
  readonly changes: readonly ChangedLicense[];

  constructor(changes: readonly ChangedLicense[]) {
    super('rolled back');
    this.changes = changes;
  }
}

/**
 * Gives sold licenses the products, machines and terms that the catalogue has now for their prices, with an audit entry for
 * each changed license. A license whose price is no longer in the catalogue stays as it was sold.
 * @param onChange called for each license that changes
 */
export async function applyCatalogToSold(
  deps: ApplyDependencies,
  change: CatalogChange,
  onChange: (license: ChangedLicense) => void,
): Promise<void> {
  for (let after: string | null = null; ;) {
    const ids: string[] = await listSoldLicenses(deps.pool, after, PAGE_SIZE);
    const last = ids.at(-1);
    if (last === undefined) return;
    for (const changed of await applyToPage(deps, change, ids)) onChange(changed);
    after = last;
  }
}

async function applyToPage(
  deps: ApplyDependencies,
  change: CatalogChange,
  licenseIds: readonly string[],
): Promise<readonly ChangedLicense[]> {
  try {
    return await inTransaction(deps.pool, async (client) => {
      await lockBilling(client);
      const references = [];
      for (const id of licenseIds)
        references.push(...(await listTransactionsOfLicense(client, id)));
      const sales = await takeSales(client, licenseIds);
      const purchases = groupPurchases(await listPurchaseEntries(client, references));
      const rare = await findRareRows(client);
      const synced = await syncLicenses(deps, client, purchases, rare);
      // A sale whose price is not in the catalogue stays.
      await insertSales(client, sales);
      const changes = synced.licenses.flatMap(toChange);
      if (change.dryRun) throw new RolledBack(changes);
      await notify(deps, client, change, synced, changes);
      return changes;
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.changes;
    throw error;
  }
}

async function notify(
  deps: ApplyDependencies,
  client: Parameters<typeof queueNotifications>[1],
  { actor, reason }: CatalogChange,
  synced: SyncedLicenses,
  changes: readonly ChangedLicense[],
): Promise<void> {
  await queueNotifications(deps, client, synced);
  for (const { before, after } of changes) {
    await insertAuditEntry(client, {
      occurredAt: deps.clock.now(),
      actor,
      reason,
      action: 'license.apply_catalog',
      subjectId: after.id,
      details: {
        product_before: before.productId,
        product: after.productId,
        max_activations_before: before.maxActivations,
        max_activations: after.maxActivations,
        expires_at_before: before.expiresAt?.toISOString() ?? null,
        expires_at: after.expiresAt?.toISOString() ?? null,
        updates_until_before: before.updatesUntil?.toISOString() ?? null,
        updates_until: after.updatesUntil?.toISOString() ?? null,
      },
    });
  }
}

function toChange({ before, license: after }: SyncedLicense): ChangedLicense[] {
  if (before === null) return [];
  const isChanged =
    before.productId !== after.productId ||
    before.maxActivations !== after.maxActivations ||
    before.expiresAt?.getTime() !== after.expiresAt?.getTime() ||
    before.updatesUntil?.getTime() !== after.updatesUntil?.getTime();
  return isChanged ? [{ before, after }] : [];
}
