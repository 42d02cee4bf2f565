import type { Pool, PoolClient } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../../audit/queries.ts';
import { rewriteUsage, toMachineKey, type UsageDependencies } from '../../usage/machine-key.ts';
import { deleteFirstDay, deleteInstallEvents, deleteMachineDays } from '../queries/installs.ts';
import { listPartitionDays } from '../queries/partitions.ts';
import { upsertMark, type RollupSource } from '../queries/rollup-marks.ts';
import { dayOf, monthOf, weekOf, type Day } from '../rules/days.ts';
import { firstKeptUsageDay } from '../rules/rollup-marks.ts';

export interface Erasure {
  /** The id of an install or a machine. */
  readonly id: string;
  readonly actor: string;
  readonly reason: string;
}

/** Longer than a roll-up that locks the rows. */
const LOCK_TIMEOUT_MS = 60_000;

/**
 * Deletes all events of an install, day by day, and marks these days for a new roll-up; after an interruption, it can
 * be run again. The ids of the events remain as long as others, so that a client that sends the events again does not
 * store them again; activations belong to the license.
 * @param onDay called with the number of days done
 * @returns the number of deleted events
 */
export async function eraseInstall(
  { clock, pool }: { readonly clock: Clock; readonly pool: Pool },
  { id, actor, reason }: Erasure,
  onDay: (done: number) => void = () => {},
): Promise<number> {
  const now = clock.now();
  // Before the first day, so that no deletion lacks it.
  await insertAuditEntry(pool, {
    occurredAt: now,
    actor,
    action: 'install.erase',
    subjectId: id,
    reason,
    details: {},
  });
  let erased = 0;
  for (const [index, day] of (await listPartitionDays(pool)).entries()) {
    erased += await eraseDay(pool, id, day, now);
    onDay(index + 1);
  }
  return erased;
}

async function eraseDay(pool: Pool, installId: string, day: Day, now: Date): Promise<number> {
  const work = async (client: PoolClient): Promise<number> => {
    const deleted = await deleteInstallEvents(client, installId, day);
    if (deleted > 0) await upsertMark(client, 'events', { day, measure: null, rolledAt: now });
    return deleted;
  };
  return inTransaction(pool, work, { lockTimeoutMs: LOCK_TIMEOUT_MS });
}

/**
 * Deletes the days of use of a machine, and marks their roll-ups for a new run, if all of their days are stored.
 * Activations of the machine belong to their licenses.
 * @returns the number of deleted days
 */
export async function eraseMachine(
  { clock, pool, vault }: UsageDependencies & { readonly clock: Clock },
  { id, actor, reason }: Erasure,
): Promise<number> {
  const machineKey = toMachineKey(vault, id);
  const now = clock.now();
  await rewriteUsage({ pool, vault }, [id]);
  return inTransaction(pool, async (client) => {
    const days = await deleteMachineDays(client, machineKey);
    await deleteFirstDay(client, machineKey);
    await markForRollup(client, days, now);
    await insertAuditEntry(client, {
      occurredAt: now,
      actor,
      action: 'machine.erase',
      subjectId: machineKey,
      reason,
      details: { days: days.length },
    });
    return days.length;
  });
}

async function markForRollup(db: Queryable, days: readonly Day[], now: Date): Promise<void> {
  const kept = days.filter((day) => day >= firstKeptUsageDay(dayOf(now)));
  await markAll(db, 'usage', kept, now);
  await markAll(db, 'usage_week', kept.map(weekOf), now);
  await markAll(db, 'usage_month', kept.map(monthOf), now);
}

async function markAll(
  db: Queryable,
  source: RollupSource,
  days: readonly Day[],
  now: Date,
): Promise<void> {
  for (const day of [...new Set(days)].toSorted()) {
    await upsertMark(db, source, { day, measure: null, rolledAt: now });
  }
}
