import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';

import { createInstallIndex, listUnindexedDays } from './queries/partitions.ts';
import { dayOf } from './rules/days.ts';

/** Another process, whose clock is behind, may still store events of the day before. */
const PAST_AFTER_MS = 60 * 60_000;

/**
 * Creates the index by install of each day that is over, newest first. An index of the present day would cost each event that
 * is stored; that of a past day costs nothing after it was created.
 */
export async function indexPastPartitions(
  { clock, pool }: { readonly clock: Clock; readonly pool: Pool },
  signal: AbortSignal,
): Promise<void> {
  const present = dayOf(new Date(clock.now().getTime() - PAST_AFTER_MS));
  const past = (await listUnindexedDays(pool)).filter((day) => day < present);
  for (const day of past) {
    if (signal.aborted) return;
    await createInstallIndex(pool, day);
  }
}
