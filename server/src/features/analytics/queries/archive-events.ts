import type { TextRow } from '#server/db/hot-statement.ts';
import { sendArrayQuery, sendQuery, type Queryable } from '#server/db/send-query.ts';

import type { DaySummary } from '../rules/row-checksum.ts';
import { addDays, startOf, type Day } from '../rules/days.ts';
import { LONG_STATEMENT_MS } from './run-long.ts';

const micros = (column: string): string => `(extract(epoch from ${column}) * 1000000)::bigint`;

/** The columns of an event in the order of the archive, as texts; times in microseconds since 1970. */
const COLUMNS = [
  'event_id',
  micros('received_at'),
  'install_id',
  'session_id',
  'name',
  micros('occurred_at'),
  micros('client_occurred_at'),
  'app_version',
  'os_version',
  'props',
].map((column) => `(${column})::text`);

/** Literals, because a cursor is declared without parameters. */
function whereDay(day: Day): string {
  const [from, until] = [startOf(day), startOf(addDays(day, 1))];
  return `received_at >= '${from.toISOString()}' and received_at < '${until.toISOString()}'`;
}

/**
 * Counts the events of a day and sums the first eight bytes of their SHA-256 hashes, as `RowChecksum` does. Takes about four
 * seconds for a million events.
 */
export async function summarizeDay(db: Queryable, day: Day): Promise<DaySummary> {
  const fields = COLUMNS.map((each) => `coalesce(octet_length(${each}) || ':' || ${each}, '-')`);
  const text = `
    select count(*)::integer as events,
           coalesce(sum(('x' || encode(substring(
             sha256(convert_to(concat(${fields.join(', ')}), 'UTF8')) for 8), 'hex'))::bit(64)::bigint), 0)::text as checksum
    from events where ${whereDay(day)}`;
  const { rows } = await sendQuery(db, { text }, LONG_STATEMENT_MS);
  return { events: Number(rows[0]?.['events']), checksum: String(rows[0]?.['checksum']) };
}

/** Events of one install are adjacent, which compresses them, and lets a search for an install skip the rest. */
const ORDER = 'install_id, received_at, event_id';

const FETCH_ROWS = 5_000;

/** Yields the events of a day as texts, ordered by install and time. Call it in a transaction. */
export async function* readDay(
  db: Queryable,
  day: Day,
): AsyncGenerator<readonly TextRow[], void, undefined> {
  // All rows are fetched, so a plan that returns the first row early is not the best one.
  await sendQuery(db, { text: 'set local cursor_tuple_fraction = 1' });
  const select = `select ${COLUMNS.join(', ')} from events where ${whereDay(day)} order by ${ORDER}`;
  await sendQuery(db, { text: `declare archived_events no scroll cursor for ${select}` });
  const fetch = {
    text: `fetch forward ${FETCH_ROWS} from archived_events`,
    rowMode: 'array',
  } as const;
  for (;;) {
    // The first one sorts the day.
    const { rows } = await sendArrayQuery(db, fetch, LONG_STATEMENT_MS);
    if (rows.length > 0) yield rows;
    if (rows.length < FETCH_ROWS) break;
  }
  await sendQuery(db, { text: 'close archived_events' });
}
