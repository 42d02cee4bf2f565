import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { DaySummary } from '../rules/row-checksum.ts';
import type { Day } from '../rules/days.ts';

/** A day in an archive. */
export interface ArchivedDay extends DaySummary {
  readonly day: Day;
  readonly location: string;
}

const insertStatement = defineCommand(
  'event_archive_insert',
  `insert into event_archives (day, location, events, checksum, archived_at) values ($1, $2, $3, $4, $5)
   on conflict (day, location) do nothing`,
);

/** Stores that a file of a day is about to be written, unless an earlier one is stored. */
export async function insertArchivedDay(
  db: Queryable,
  { day, location, events, checksum }: ArchivedDay,
  archivedAt: Date,
): Promise<void> {
  await execute(db, insertStatement, [day, location, events, checksum, archivedAt]);
}

const upsertStatement = defineCommand(
  'event_archive_upsert',
  `insert into event_archives (day, location, events, checksum, archived_at) values ($1, $2, $3, $4, $5)
   on conflict (day, location) do update
   set events = excluded.events, checksum = excluded.checksum, archived_at = excluded.archived_at`,
);

/** Stores that an archive has a day. */
export async function upsertArchivedDay(
  db: Queryable,
  { day, location, events, checksum }: ArchivedDay,
  archivedAt: Date,
): Promise<void> {
  await execute(db, upsertStatement, [day, location, events, checksum, archivedAt]);
}

const dropStatement = defineCommand(
  'event_archive_record_drop',
  'update event_archives set dropped_at = $3 where day = $1 and location = $2',
);

/** Stores that the events of a day are only in the archive. */
export async function recordDrop(
  db: Queryable,
  day: Day,
  location: string,
  droppedAt: Date,
): Promise<void> {
  await execute(db, dropStatement, [day, location, droppedAt]);
}

const RecordRow = Type.Object({
  events: Type.Number(),
  checksum: Type.String(),
  droppedAt: Type.Union([Timestamp, Type.Null()]),
});

/** The events that were written to an archive, and when they were dropped from the database. */
export type ArchiveRecord = Readonly<Static<typeof RecordRow>>;

const findStatement = defineStatement(
  'event_archive_find',
  RecordRow,
  'select events, checksum, dropped_at from event_archives where day = $1 and location = $2',
);

/** Returns what was written to an archive for a day; null: nothing. */
export async function findArchivedDay(
  db: Queryable,
  day: Day,
  location: string,
): Promise<ArchiveRecord | null> {
  return queryRow(db, findStatement, [day, location]);
}

const isDroppedStatement = defineStatement(
  'event_archive_is_dropped',
  Type.Object({ dropped: Type.Boolean() }),
  'select exists (select from event_archives where day = $1 and dropped_at is not null) as dropped',
);

/** Whether the events of a day were archived and dropped. */
export async function isDropped(db: Queryable, day: Day): Promise<boolean> {
  return (await queryRow(db, isDroppedStatement, [day]))?.dropped === true;
}

const LocationRow = Type.Object({
  location: Type.String(),
  days: Type.Number(),
  firstDay: Type.String(),
  lastDay: Type.String(),
});

/** The days that were written to one archive. */
type ArchiveLocation = Readonly<Static<typeof LocationRow>>;

const locationsStatement = defineStatement(
  'event_archive_list_locations',
  LocationRow,
  `select location, count(*) as days, to_char(min(day), 'YYYY-MM-DD') as first_day, to_char(max(day), 'YYYY-MM-DD') as last_day
   from event_archives group by location order by location limit 1000`,
);

/** Returns the archives that events were written to. */
export async function listArchiveLocations(db: Queryable): Promise<ArchiveLocation[]> {
  return queryRows(db, locationsStatement);
}
