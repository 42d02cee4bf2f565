import { Type } from 'typebox';

import { sendQuery } from '#server/db/send-query.ts';
import { defineStatement, queryRow, queryRows, type Queryable } from '#server/db/statement.ts';

import { addDays, type Day } from '../rules/days.ts';

const listStatement = defineStatement(
  'event_partition_list',
  Type.Object({ day: Type.String() }),
  `select replace(substring(relname from '^events_(\\d{4}_\\d{2}_\\d{2})$'), '_', '-') as day
   from pg_inherits join pg_class on pg_class.oid = inhrelid
   where inhparent = 'events'::regclass and relname ~ '^events_\\d{4}_\\d{2}_\\d{2}$'
   order by day`,
);

/** The days whose events have a place, the oldest first. */
export async function listEventDays(db: Queryable): Promise<Day[]> {
  return (await queryRows(db, listStatement)).map((row) => row.day);
}

const mayMakeStatement = defineStatement(
  'event_partition_may_make',
  Type.Object({ allowed: Type.Boolean() }),
  `select has_schema_privilege(relnamespace, 'create') and pg_has_role(relowner, 'usage') as allowed
   from pg_class where oid = 'events'::regclass`,
);

/** Whether the role that asks may make days: it creates tables, and attaches them to one that it has to own. */
export async function isAllowedToMakeDays(db: Queryable): Promise<boolean> {
  return (await queryRow(db, mayMakeStatement))?.allowed === true;
}

const lockStatement = {
  text: `select pg_advisory_xact_lock(hashtextextended('latchkey event partitions', 0))`,
};

/** Waits until no other process makes or drops days, and keeps others from it until the transaction ends. */
export async function lockEventDays(db: Queryable): Promise<void> {
  await sendQuery(db, lockStatement);
}

/**
 * Makes the place for a day's events. It is attached to the table rather than made as its part, which would wait for all
 * who store events, and hold them up.
 */
export async function createEventDay(db: Queryable, day: Day): Promise<void> {
  const name = partitionOf(day);
  const from = `${day} 00:00:00+00`;
  const until = `${addDays(day, 1)} 00:00:00+00`;
  await sendQuery(db, { text: `create table ${name} (like events including all)` });
  await sendQuery(db, {
    text: `alter table events attach partition ${name} for values from ('${from}') to ('${until}')`,
  });
}

/** Drops a day with all of its events, if it is still there. */
export async function dropEventDay(db: Queryable, day: Day): Promise<void> {
  await sendQuery(db, { text: `drop table if exists ${partitionOf(day)}` });
}

/** Letters, digits and underscores only: `day` is one of ours. */
function partitionOf(day: Day): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RangeError(`${day} is no day`);
  return `events_${day.replaceAll('-', '_')}`;
}
