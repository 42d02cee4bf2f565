import type { Context } from '#server/context.ts';
import { retryConflicts } from '#server/db/retry-conflicts.ts';

import { addDrops } from './queries/drops.ts';

/**
 * Writes down how many events were not stored since the last time. What cannot be written waits for the next time; where
 * the database was asked and did not answer, it may then be counted twice, which is better than not at all.
 */
export async function writeDrops({
  eventCounts,
  pool,
}: Pick<Context, 'eventCounts' | 'pool'>): Promise<void> {
  const drops = eventCounts.takeDrops();
  if (drops.length === 0) return;
  try {
    await retryConflicts(() => addDrops(pool, drops));
  } catch (error) {
    eventCounts.returnDrops(drops);
    throw error;
  }
}
