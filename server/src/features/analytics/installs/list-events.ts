import type { InstallEvents } from '@latchkey/contract';
import { isUuid } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { invalidRequest } from '#server/errors.ts';

import { listPartitionDays } from '../queries/partitions.ts';
import {
  listNewestEvents,
  type EventPosition,
  type StoredEventRecord,
} from '../queries/stored-events.ts';
import { viewEvent } from '../reports/report-events.ts';
import { dayOf, type Day } from '../rules/days.ts';

const PAGE_EVENTS = 50;

/** The present day has no index by install, which would cost each event, and is read as a whole. */
const MAX_DAYS = 7;

const DAY_MS = 86_400_000;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** After every event: partitions exist for later days too. */
function afterAll(now: Date): EventPosition {
  const eventId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  return { receivedAt: new Date(now.getTime() + DAY_MS), eventId };
}

/**
 * Lists events of an install, newest first. A page has at most 50 events of at most seven days, so that its cost is limited;
 * it may have none although older ones exist.
 * @param cursor of the page before; null: the first page
 * @throws invalidRequest (422) for a cursor that is not one
 */
export async function listInstallEvents(
  { clock, pool }: { readonly clock: Clock; readonly pool: Pool },
  installId: string,
  cursor: string | null,
): Promise<InstallEvents> {
  const before = cursor === null ? afterAll(clock.now()) : readCursor(cursor);
  const stored = await listPartitionDays(pool);
  const days = stored.filter((day) => beginsBefore(day, before)).toReversed();
  const items: StoredEventRecord[] = [];
  let searchedTo = dayOf(before.receivedAt);
  for (const day of days.slice(0, MAX_DAYS)) {
    const limit = PAGE_EVENTS - items.length;
    items.push(...(await listNewestEvents(pool, installId, { day, before, limit })));
    searchedTo = day;
    if (items.length === PAGE_EVENTS) break;
  }
  return {
    items: items.map(viewEvent),
    searched_to: searchedTo,
    next_cursor: nextCursor(items, days, searchedTo),
  };
}

/** The start of a day as a position is before all its events. */
function beginsBefore(day: Day, { eventId, receivedAt }: EventPosition): boolean {
  const start = startOf(day);
  return start < receivedAt || (start.getTime() === receivedAt.getTime() && eventId !== NIL_UUID);
}

const startOf = (day: Day): Date => new Date(`${day}T00:00:00Z`);

/** After a full page the last event, else the start of the last day that was read. */
function nextCursor(
  items: readonly StoredEventRecord[],
  days: readonly Day[],
  searchedTo: Day,
): string | null {
  const last = items.at(-1);
  if (items.length === PAGE_EVENTS && last !== undefined) {
    return writeCursor(last);
  }
  if (days.length <= MAX_DAYS) return null;
  return writeCursor({ receivedAt: startOf(searchedTo), eventId: NIL_UUID });
}

function writeCursor({ eventId, receivedAt }: EventPosition): string {
  return `${receivedAt.toISOString()} ${eventId}`;
}

function readCursor(cursor: string): EventPosition {
  const [time = '', eventId = ''] = cursor.split(' ');
  const receivedAt = new Date(time);
  if (!Number.isNaN(receivedAt.getTime()) && isUuid(eventId)) return { receivedAt, eventId };
  const msg = 'The cursor is not one of this list';
  throw invalidRequest([{ loc: ['query', 'cursor'], msg, type: 'cursor_invalid' }]);
}
