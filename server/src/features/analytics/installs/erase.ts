import type { Pool } from 'pg';

import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../../audit/queries.ts';
import { toMachineKey, rewriteUsage } from '../../usage/machine-key.ts';
import { deleteInstallEvents, deleteFirstDay, deleteMachineDays } from '../queries/installs.ts';
import { listEventDays } from '../queries/partitions.ts';
import { upsertMark, type RollupSource } from '../queries/rollup-marks.ts';
import { type Day, dayOf, monthOf, weekOf } from '../rules/days.ts';
import { firstKeptUsageDay } from '../rules/rollup-marks.ts';

/** Who erases what, and why. */
export interface Erasure {
  /** An install's id, or a machine's. */
  readonly id: string;
  readonly actor: string;
  readonly reason: string;
}

/** A roll-up that is under way may hold what is asked for. */
const LOCK_TIMEOUT_MS = 60_000;

/**
 * Deletes all events of an install, day by day, and gives how many there were; the roll-ups of those days are made again.
 * What is interrupted is begun again in the same way. The ids of the events stay for as long as any, so that a client that
 * sends them again does not bring them back; activations belong to the license.
 * @param onDay told how many days are done
 */
export async function eraseInstall(
  { clock, pool }: Pick<Context, 'clock' | 'pool'>,
  { id, actor, reason }: Erasure,
  onDay: (done: number) => void = () => {},
): Promise<number> {
  const now = clock.now();
  // Before the first day, so that no deletion is without it.
  await insertAuditEntry(pool, {
    occurredAt: now,
    actor,
    action: 'install.erase',
    subjectId: id,
    reason,
    details: {},
  });
  let erased = 0;
  for (const [index, day] of (await listEventDays(pool)).entries()) {
    erased += await eraseDay(pool, id, day, now);
    onDay(index + 1);
  }
  return erased;
}

async function eraseDay(pool: Pool, installId: string, day: Day, now: Date): Promise<number> {
  const work = async (client: Parameters<typeof deleteInstallEvents>[0]): Promise<number> => {
    const deleted = await deleteInstallEvents(client, installId, day);
    if (deleted > 0) await upsertMark(client, 'events', { day, measure: null, rolledAt: now });
    return deleted;
  };
  return inTransaction(pool, work, { lockTimeoutMs: LOCK_TIMEOUT_MS });
}

/**
 * Deletes the days on which a machine was used, and gives how many there were; the roll-ups of these are made again, as far
 * as all of their days are still there. Activations of the machine belong to their licenses.
 */
export async function eraseMachine(
  { clock, pool, vault }: Pick<Context, 'clock' | 'pool' | 'vault'>,
  { id, actor, reason }: Erasure,
): Promise<number> {
  const machineKey = toMachineKey(vault, id);
  const now = clock.now();
  await rewriteUsage({ pool, vault }, [id]);
  return inTransaction(pool, async (client) => {
    const days = await deleteMachineDays(client, machineKey);
    await deleteFirstDay(client, machineKey);
    await markForRollup(client, days, now);
    const details = { days: days.length };
    const action = 'machine.erase';
    await insertAuditEntry(client, {
      occurredAt: now,
      actor,
      action,
      subjectId: machineKey,
      reason,
      details,
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
