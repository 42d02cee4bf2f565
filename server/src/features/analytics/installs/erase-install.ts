import type { Pool } from 'pg';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../../audit/queries.ts';
import { deleteInstallEvents } from '../queries/installs.ts';
import { listEventDays } from '../queries/partitions.ts';
import { upsertMark } from '../queries/rollup-marks.ts';
import type { Day } from '../rules/days.ts';

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
