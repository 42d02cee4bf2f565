import type {
  EventDays,
  EventDaysQuery,
  EventDrops,
  EventDropsQuery,
  StoredEvent,
} from '@latchkey/contract';

import type { Queryable } from '#server/db/statement.ts';
import { noSuch } from '#server/errors.ts';

import { findStoredEvent, type StoredEventRecord } from '../queries/stored-events.ts';
import { listPeriods, type DayRange } from '../rules/days.ts';
import type { ReportDependencies } from './dependencies.ts';
import { listDrops, listEventsByDay, listEventVersionDays } from './event-reports.ts';
import { readReportRange, viewRange, type ComparedRange } from './report-range.ts';
import { findUpToDate } from './report-usage.ts';

/**
 * Counts an event on each day, beside the days before.
 * @throws invalidRequest (422)
 */
export function reportEventDays(
  { clock, reports }: ReportDependencies,
  query: EventDaysQuery,
): Promise<EventDays> {
  const range = readReportRange(query, clock.now());
  return reports.read((db) => readEventDays(db, range, query));
}

async function readEventDays(
  db: Queryable,
  range: ComparedRange,
  { name, version }: Pick<EventDaysQuery, 'name' | 'version'>,
): Promise<EventDays> {
  const list = async (of: DayRange) => {
    const found =
      version === undefined
        ? await listEventsByDay(db, of, name)
        : await listEventVersionDays(db, of, { name, version });
    return new Map(found.map((row) => [row.day, row]));
  };
  const [current, before] = [await list(range), await list(range.previous)];
  const previousDays = listPeriods('day', range.previous);
  return {
    ...viewRange(range),
    up_to_date_at: await findUpToDate(db),
    days: listPeriods('day', range).map((day, index) => {
      const previousDay = previousDays[index] ?? day;
      return {
        day,
        events: current.get(day)?.events ?? 0,
        installs: current.has(day) ? (current.get(day)?.installs ?? null) : 0,
        previous_day: previousDay,
        previous_events: before.get(previousDay)?.events ?? 0,
      };
    }),
  };
}

/** Counts the events that were not stored, by reason. @throws invalidRequest (422) */
export function reportDrops(
  { clock, reports }: ReportDependencies,
  query: EventDropsQuery,
): Promise<EventDrops> {
  const range = readReportRange(query, clock.now());
  return reports.read((db) => readDrops(db, range));
}

async function readDrops(db: Queryable, range: ComparedRange): Promise<EventDrops> {
  const rows = await listDrops(db, { from: range.previous.from, to: range.to });
  const items = [...Map.groupBy(rows, ({ reason }) => reason)].map(([reason, found]) => ({
    reason,
    events: sumEvents(found.filter(({ day }) => day >= range.from)),
    previous_events: sumEvents(found.filter(({ day }) => day < range.from)),
    last_day: found.at(-1)?.day ?? null,
  }));
  return {
    ...viewRange(range),
    up_to_date_at: await findUpToDate(db),
    items: items.toSorted((a, b) => b.events - a.events || b.previous_events - a.previous_events),
  };
}

function sumEvents(rows: readonly { readonly events: number }[]): number {
  return rows.reduce((sum, { events }) => sum + events, 0);
}

/** Shows one event. @throws noSuch (404) */
export async function showEvent(
  { pool }: ReportDependencies,
  eventId: string,
): Promise<StoredEvent> {
  const event = await findStoredEvent(pool, eventId);
  if (event === null) {
    throw noSuch(
      'There is no such event: it was never received, not stored, removed by age, erased, or archived.',
    );
  }
  return viewEvent(event);
}

/** Converts an event to its form in the interface. */
export function viewEvent(event: StoredEventRecord): StoredEvent {
  return {
    event_id: event.eventId,
    name: event.name,
    install_id: event.installId,
    session_id: event.sessionId,
    occurred_at: event.occurredAt.toISOString(),
    client_occurred_at: event.clientOccurredAt?.toISOString() ?? null,
    received_at: event.receivedAt.toISOString(),
    app_version: event.appVersion,
    os_version: event.osVersion,
    props: event.props,
  };
}
