import type { Context } from '#server/context.ts';

import type { EventName, Person } from './facts.ts';
import { searchBodies } from './queries/bodies.ts';
import { listNeedles, mentionsPerson } from './rules/mentions.ts';

const PAGE_ROWS = 1_000;

/**
 * Every payment event about a person: those that the ledgers name, and those whose stored body mentions the person, found
 * by reading all bodies. A body that was removed is not searched.
 * @param onProgress called with the number of events that were read
 */
export async function findEvents(
  { pool }: Pick<Context, 'pool'>,
  person: Person,
  onProgress: (done: number) => void,
): Promise<EventName[]> {
  const found = new Map(person.events.map((event) => [keyOf(event), event]));
  const needles = listNeedles(person);
  let read = 0;
  for (let after: EventName = { eventId: '', provider: '' }; ;) {
    const page = await searchBodies(pool, needles, after, PAGE_ROWS);
    for (const { body, ...event } of page) {
      if (body === null || !mentionsPerson(body, event.provider, person)) continue;
      found.set(keyOf(event), event);
    }
    read += page.length;
    onProgress(read);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) break;
    after = last;
  }
  return [...found.values()].map(({ provider, eventId }) => ({ provider, eventId }));
}

function keyOf({ provider, eventId }: EventName): string {
  return `${provider} ${eventId}`;
}
