import type { Pool } from 'pg';
import type { Logger } from 'pino';

import type { Clock } from '#server/clock.ts';
import { deleteInBatches } from '#server/db/delete-in-batches.ts';
import { retryConflicts } from '#server/db/transaction.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';

import { writeLicenseActivity, type LicenseActivity } from './activity.ts';
import {
  listLicenseIdsAfter,
  listNewLicenseIds,
  refreshLicenseActivity,
} from './queries/license-activity.ts';
import { deleteOldRefusals } from './queries/license-refusals.ts';

interface LicenseTaskDependencies {
  readonly clock: Clock;
  readonly licenseActivity: LicenseActivity;
  readonly log: Pick<Logger, 'warn'>;
  readonly pool: Pool;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How long refusals are kept. */
const REFUSALS_KEPT_DAYS = 90;

/** Licenses in one statement: some 30 ms. */
const PAGE_SIZE = 1_000;

const DELETED_ROWS = 5_000;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** The tasks that keep the roll-ups of licenses for operators. */
export function createLicenseTasks(deps: LicenseTaskDependencies): readonly BackgroundTask[] {
  return [
    {
      name: 'license_activity',
      scope: 'process',
      intervalMs: 10 * SECOND_MS,
      event: 'licenses.activity_storage',
      action: 'store the refusals and machine changes of licenses',
      run: () => writeLicenseActivity(deps),
      finish: () => writeLastActivity(deps),
    },
    {
      name: 'license_activity_of_new',
      scope: 'singleton',
      intervalMs: MINUTE_MS,
      event: 'licenses.activity_of_new',
      action: 'add new licenses to the roll-up of machines',
      run: (signal) => addNewLicenses(deps, signal),
    },
    {
      name: 'license_activity_refresh',
      scope: 'singleton',
      intervalMs: DAY_MS,
      timeoutMs: 60 * MINUTE_MS,
      event: 'licenses.activity_refresh',
      action: 'refresh the roll-up of machines',
      run: (signal) => refreshAll(deps, signal),
    },
  ];
}

/** Activity that cannot be stored at the stop is lost, so it is logged. */
async function writeLastActivity(deps: LicenseTaskDependencies): Promise<void> {
  try {
    await writeLicenseActivity(deps);
  } catch (error) {
    const refusals = deps.licenseActivity.take().refusals.length;
    const fields = { event: 'licenses.activity_lost', err: error, refusals };
    deps.log.warn(fields, 'could not store the refusals of licenses before the stop');
  }
}

async function addNewLicenses(
  { pool }: LicenseTaskDependencies,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const ids = await listNewLicenseIds(pool, PAGE_SIZE);
    if (ids.length > 0) await retryConflicts(() => refreshLicenseActivity(pool, ids));
    if (ids.length < PAGE_SIZE) return;
  }
}

/** Computes the roll-up of every license again, and removes old refusals. */
async function refreshAll(
  { clock, pool }: LicenseTaskDependencies,
  signal: AbortSignal,
): Promise<void> {
  let ids = await listLicenseIdsAfter(pool, NIL_UUID, PAGE_SIZE);
  while (ids.length > 0 && !signal.aborted) {
    const page = ids;
    await retryConflicts(() => refreshLicenseActivity(pool, page));
    ids = await listLicenseIdsAfter(pool, page.at(-1) ?? NIL_UUID, PAGE_SIZE);
  }
  const oldest = new Date(clock.now().getTime() - REFUSALS_KEPT_DAYS * DAY_MS);
  const before = oldest.toISOString().slice(0, 10);
  await deleteInBatches(signal, DELETED_ROWS, (limit) => deleteOldRefusals(pool, before, limit));
}
