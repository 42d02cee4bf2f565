import type { Context } from '#server/context.ts';

import { removeMessagesBefore } from './queries/messages.ts';

/** How long a message can be looked up and replayed. */
const KEPT_DAYS = 30;
const KEPT_MS = KEPT_DAYS * 86_400_000;

const PAGE_SIZE = 5_000;

/** So many pages at a time; what is left is removed the next time. */
const MAX_PAGES = 20;

/** Removes messages older than 30 days with their deliveries; gives how many. */
export async function removeOldMessages(ctx: Pick<Context, 'clock' | 'pool'>): Promise<number> {
  const before = new Date(ctx.clock.now().getTime() - KEPT_MS);
  let removed = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const count = await removeMessagesBefore(ctx.pool, before, PAGE_SIZE);
    removed += count;
    if (count < PAGE_SIZE) break;
  }
  return removed;
}
