import type {
  Breakdown,
  EventBreakdownQuery,
  EventNamesQuery,
  UsageBreakdownQuery,
} from '@latchkey/contract';

import type { Queryable } from '#server/db/statement.ts';
import { invalidRequest } from '#server/errors.ts';

import { listBreakdown, type BreakdownName, type BreakdownRecord } from '../queries/breakdowns.ts';
import { countDays, type DayRange } from '../rules/days.ts';
import type { ReportDependencies } from './dependencies.ts';
import { listEventsByDay } from './event-reports.ts';
import { readReportRange, viewRange, type ComparedRange } from './report-range.ts';
import { findUpToDate } from './report-usage.ts';

/** The numbers of a trend: as many as a small chart can show. */
const MAX_TREND = 62;

/** What is broken down, and the parameters of its statement. */
interface BreakdownSource {
  readonly name: BreakdownName;
  readonly parameters?: readonly (string | null)[];
  /** Default: the sum of the values, which each event or machine has one of. */
  readonly countAll?: (db: Queryable, range: DayRange) => Promise<number>;
}

/** Counts machine days by version, platform or system. @throws invalidRequest (422) */
export function breakDownUsage(
  deps: ReportDependencies,
  { by = 'version', ...days }: UsageBreakdownQuery,
): Promise<Breakdown> {
  return breakDown(deps, days, { name: by });
}

/** Counts events by name. @throws invalidRequest (422) */
export function breakDownEvents(
  deps: ReportDependencies,
  { search, version, ...days }: EventNamesQuery,
): Promise<Breakdown> {
  const part = search?.trim() ?? '';
  const wanted = part === '' ? null : part;
  if (version === undefined) return breakDown(deps, days, { name: 'event', parameters: [wanted] });
  return breakDown(deps, days, { name: 'eventOfVersion', parameters: [wanted, version] });
}

/** Counts one event by version, property, or value of a property. @throws invalidRequest (422) */
export function breakDownEvent(
  deps: ReportDependencies,
  { name, by = 'version', key, ...days }: EventBreakdownQuery,
): Promise<Breakdown> {
  if (by === 'version')
    return breakDown(deps, days, { name: 'versionOfEvent', parameters: [name] });
  if (by === 'property') {
    const countAll = (db: Queryable, range: DayRange) => countEvents(db, range, name);
    return breakDown(deps, days, { name: 'property', parameters: [name], countAll });
  }
  if (key === undefined) {
    throw invalidRequest([{ loc: ['query', 'key'], msg: 'Field required', type: 'missing' }]);
  }
  return breakDown(deps, days, { name: 'value', parameters: [name, key] });
}

async function countEvents(db: Queryable, range: DayRange, name: string): Promise<number> {
  const days = await listEventsByDay(db, range, name);
  return days.reduce((sum, { events }) => sum + events, 0);
}

function breakDown(
  { clock, reports }: ReportDependencies,
  days: { readonly from?: string; readonly to?: string },
  source: BreakdownSource,
): Promise<Breakdown> {
  const range = readReportRange(days, clock.now());
  return reports.read((db) => readBreakdown(db, range, source));
}

async function readBreakdown(
  db: Queryable,
  range: ComparedRange,
  { name, parameters, countAll }: BreakdownSource,
): Promise<Breakdown> {
  const trendDays = Math.ceil(countDays(range) / MAX_TREND);
  const query = { ...range, previousFrom: range.previous.from, trendDays };
  const records = await listBreakdown(db, name, query, parameters);
  const count = await (countAll?.(db, range) ?? sumOf(records, 'count'));
  const previousCount = await (countAll?.(db, range.previous) ?? sumOf(records, 'previousCount'));
  return {
    ...viewRange(range),
    up_to_date_at: await findUpToDate(db),
    count,
    previous_count: previousCount,
    trend_days: trendDays,
    items: records.map((record) => viewRecord(record, { count, previousCount }, range, trendDays)),
  };
}

function sumOf(records: readonly BreakdownRecord[], field: 'count' | 'previousCount'): number {
  return records.reduce((sum, record) => sum + record[field], 0);
}

function viewRecord(
  record: BreakdownRecord,
  all: { readonly count: number; readonly previousCount: number },
  range: ComparedRange,
  trendDays: number,
): Breakdown['items'][number] {
  const { value, count, previousCount, installs, lastDay, trend } = record;
  const buckets = Math.ceil(countDays(range) / trendDays);
  return {
    value,
    count,
    share: shareOf(count, all.count),
    previous_count: previousCount,
    previous_share: shareOf(previousCount, all.previousCount),
    installs,
    last_day: lastDay,
    trend: Array.from({ length: buckets }, (_, bucket) => trend[bucket] ?? 0),
  };
}

function shareOf(part: number, all: number): number {
  return all === 0 ? 0 : part / all;
}
