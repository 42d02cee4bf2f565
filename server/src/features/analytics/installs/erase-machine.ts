import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import type { Queryable } from '#server/db/statement.ts';

import { insertAuditEntry } from '../../audit/queries.ts';
import { toMachineKey } from '../../usage/machine-key.ts';
import { rewriteUsage } from '../../usage/move-machines.ts';
import { deleteFirstDay, deleteMachineDays } from '../queries/installs.ts';
import { upsertMark, type RollupSource } from '../queries/rollup-marks.ts';
import { dayOf, type Day } from '../rules/days.ts';
import { monthOf, weekOf } from '../rules/periods.ts';
import { firstKeptUsageDay } from '../rules/rollup-marks.ts';
import type { Erasure } from './erase-install.ts';

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
