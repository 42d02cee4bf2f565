import type { Context } from '#server/context.ts';

import type { SubscriberFacts } from './facts.ts';
import { listSubscribersBefore } from './queries/list-subscribers.ts';
import { stateOf, type SubscriberState } from './rules/state.ts';

const PAGE_ROWS = 1_000;

/**
 * Every subscriber, the newest first, page by page, so that neither memory nor a transaction grows with the table.
 * @param state only those that stand so
 */
export async function* readSubscribers(
  { pool }: Pick<Context, 'pool'>,
  state?: SubscriberState,
): AsyncGenerator<SubscriberFacts> {
  for (let last: SubscriberFacts | null = null; ;) {
    const page: SubscriberFacts[] = await listSubscribersBefore(pool, last, PAGE_ROWS);
    yield* page.filter((subscriber) => state === undefined || stateOf(subscriber) === state);
    last = page.at(-1) ?? null;
    if (last === null || page.length < PAGE_ROWS) return;
  }
}
