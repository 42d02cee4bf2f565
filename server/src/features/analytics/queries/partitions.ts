import { Type } from 'typebox';

import { sendQuery } from '#server/db/send-query.ts';
import { defineStatement, queryRow, queryRows, type Queryable } from '#server/db/statement.ts';

import { addDays, type Day } from '../rules/days.ts';
import { runLong } from './run-long.ts';

const listStatement = defineStatement(
  'event_partition_list',
  Type.Object({ day: Type.String() }),
  `select replace(substring(relname from '^events_(\\d{4}_\\d{2}_\\d{2})$'), '_', '-') as day
   from pg_inherits join pg_class on pg_class.oid = inhrelid
   where inhparent = 'events'::regclass and relname ~ '^events_\\d{4}_\\d{2}_\\d{2}$'
   order by day`,
);

/** Returns the days that have an event partition, oldest first. */
export async function listPartitionDays(db: Queryable): Promise<Day[]> {
  return (await queryRows(db, listStatement)).map((row) => row.day);
}

const mayCreateStatement = defineStatement(
  'event_partition_may_create',
  Type.Object({ allowed: Type.Boolean() }),
  `select has_schema_privilege(relnamespace, 'create') and pg_has_role(relowner, 'usage') as allowed
   from pg_class where oid = 'events'::regclass`,
);

/** Whether the role may create tables, and owns the table `events`, which attaching a partition requires. */
export async function mayCreatePartitions(db: Queryable): Promise<boolean> {
  return (await queryRow(db, mayCreateStatement))?.allowed === true;
}

const lockStatement = {
  text: `select pg_advisory_xact_lock(hashtextextended('latchkey event partitions', 0))`,
};

/** Locks creating and dropping partitions until the transaction ends. */
export async function lockPartitions(db: Queryable): Promise<void> {
  await sendQuery(db, lockStatement);
}

/**
 * Creates the partition of a day. It is created as a table and then attached: `create table … partition of` would wait for
 * all transactions that store events, and block new ones.
 */
export async function createPartition(db: Queryable, day: Day): Promise<void> {
  const name = partitionOf(day);
  const from = `${day} 00:00:00+00`;
  const until = `${addDays(day, 1)} 00:00:00+00`;
  await sendQuery(db, { text: `create table ${name} (like events including all)` });
  await sendQuery(db, {
    text: `alter table events attach partition ${name} for values from ('${from}') to ('${until}')`,
  });
}

const listUnindexedStatement = defineStatement(
  'event_partition_list_unindexed',
  Type.Object({ day: Type.String() }),
  `select replace(substring(relname from '^events_(\\d{4}_\\d{2}_\\d{2})$'), '_', '-') as day
   from pg_inherits join pg_class on pg_class.oid = inhrelid
   where inhparent = 'events'::regclass and relname ~ '^events_\\d{4}_\\d{2}_\\d{2}$'
     and to_regclass(relname || '_install') is null
   order by day desc`,
);

/** Returns the days whose event partition has no index by install, newest first. */
export async function listUnindexedDays(db: Queryable): Promise<Day[]> {
  return (await queryRows(db, listUnindexedStatement)).map((row) => row.day);
}

/** Creates the index by install of a day's partition: install_list_newest_events, and erasing an install. */
export async function createInstallIndex(db: Queryable, day: Day): Promise<void> {
  const name = partitionOf(day);
  await runLong(
    db,
    `create index if not exists ${name}_install on ${name} (install_id, received_at, event_id)`,
  );
}

/** Lets others only read the events of a day until the transaction ends. */
export async function lockPartition(db: Queryable, day: Day): Promise<void> {
  await sendQuery(db, { text: `lock table ${partitionOf(day)} in share mode` });
}

const isAwaitedStatement = defineStatement(
  'event_partition_is_awaited',
  Type.Object({ awaited: Type.Boolean() }),
  `select exists (
     select from pg_locks where relation = to_regclass('events_' || replace($1, '-', '_')) and not granted
   ) as awaited`,
);

/** Whether another transaction waits for a lock on the events of a day. */
export async function isPartitionAwaited(db: Queryable, day: Day): Promise<boolean> {
  return (await queryRow(db, isAwaitedStatement, [day]))?.awaited === true;
}

/** Drops the partition of a day, if it exists. */
export async function dropPartition(db: Queryable, day: Day): Promise<void> {
  await sendQuery(db, { text: `drop table if exists ${partitionOf(day)}` });
}

/** Checked, because the name becomes part of a statement. */
function partitionOf(day: Day): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RangeError(`invalid day: ${day}`);
  return `events_${day.replaceAll('-', '_')}`;
}
