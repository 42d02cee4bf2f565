import {
  toJsonArray,
  toPlainArray,
  toTextArray,
  toUuidArray,
  type TextRow,
} from '#server/db/hot-statement.ts';
import { sendQuery, type Queryable } from '#server/db/send-query.ts';

import type { Day } from '../rules/days.ts';
import { runLong } from './run-long.ts';

/**
 * Creates temporary tables with the names of `events`, without rows, and of its roll-ups, without those of some days. Until the
 * transaction ends, all statements of its connection use them instead of the permanent ones.
 */
export async function createTemporaryRollups(
  db: Queryable,
  without: readonly Day[],
): Promise<void> {
  await runLong(db, 'create temporary table events (like events) on commit drop');
  for (const table of ['event_name_days', 'event_days', 'event_prop_days']) {
    const text = `create temporary table ${table} on commit drop as select * from ${table} where day <> all ($1::date[])`;
    await runLong(db, text, [without]);
  }
  // Prepared statements are planned again, for the temporary tables.
  await sendQuery(db, { text: 'discard plans' });
}

const micros = (value: string): string =>
  `timestamptz 'epoch' + ${value} * interval '1 microsecond'`;

const INSERT = `
  insert into events (event_id, received_at, install_id, session_id, name, occurred_at, client_occurred_at, app_version,
                      os_version, props)
  select event_id, ${micros('received_at')}, install_id, session_id, name, ${micros('occurred_at')},
         ${micros('client_occurred_at')}, app_version, os_version, props
  from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::bigint[], $8::text[],
              $9::text[], $10::jsonb[])
    as event (event_id, received_at, install_id, session_id, name, occurred_at, client_occurred_at, app_version, os_version,
              props)`;

const FORMATS = [
  toUuidArray,
  toPlainArray,
  toUuidArray,
  toUuidArray,
  toTextArray,
  toPlainArray,
  toPlainArray,
  toTextArray,
  toTextArray,
  toJsonArray,
];

/** Inserts events of an archive into the temporary table. @param rows in the order and format of the archive */
export async function insertArchivedEvents(db: Queryable, rows: readonly TextRow[]): Promise<void> {
  const parameters = FORMATS.map((format, index) => format(rows.map((row) => row[index] ?? null)));
  await runLong(db, INSERT, parameters);
}

/** Lets the planner know the number of events. */
export async function analyzeTemporaryEvents(db: Queryable): Promise<void> {
  await runLong(db, 'analyze pg_temp.events');
}

/** Deletes all events of the temporary table. */
export async function emptyTemporaryEvents(db: Queryable): Promise<void> {
  await runLong(db, 'truncate pg_temp.events');
}
