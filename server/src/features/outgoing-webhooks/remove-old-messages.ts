import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';

import { removeMessagesBefore } from './queries/messages.ts';

/** How long messages are listed and can be replayed. */
const KEPT_DAYS = 30;
const KEPT_MS = KEPT_DAYS * 86_400_000;

const PAGE_SIZE = 5_000;

/** The next run removes the rest. */
const MAX_PAGES = 20;

/** Removes messages older than 30 days with their deliveries, and returns their number. */
export async function removeOldMessages({
  clock,
  pool,
}: {
  readonly clock: Clock;
  readonly pool: Pool;
}): Promise<number> {
  const before = new Date(clock.now().getTime() - KEPT_MS);
  let removed = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const count = await removeMessagesBefore(pool, before, PAGE_SIZE);
    removed += count;
    if (count < PAGE_SIZE) break;
  }
  return removed;
}
