import { Type } from 'typebox';

import {
  Nullable,
  Timestamp,
  defineStatement,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { addDays, type Day, startOf } from '../rules/days.ts';
import { LONG_STATEMENT_MS, runLong } from './run-long.ts';

const ActivationRow = Type.Object({
  license_id: Type.String(),
  activation_id: Type.String(),
  machine_id: Nullable.Text,
  usage_sharing: Type.Union([Type.Boolean(), Type.Null()]),
  usage_sharing_reported_at: Nullable.Moment,
  os_version: Nullable.Text,
  app_version: Nullable.Text,
  activated_at: Timestamp,
  deactivated_at: Nullable.Moment,
  last_validated_at: Timestamp,
  validation_count: Type.Number(),
});

/** An activation that an install has told of, without anything of its key and its fingerprint. */
export type InstallActivation = Type.Static<typeof ActivationRow>;

/** An install has one activation, or a few; a broken client that uses one id everywhere is not listed whole. */
const MAX_ACTIVATIONS = 1_000;

const activationsStatement = defineStatement(
  'install_list_activations',
  ActivationRow,
  `select license_id, id as activation_id, machine_id, usage_sharing, usage_sharing_reported_at, os_version,
          app_version, activated_at, deactivated_at, last_validated_at, validation_count
   from activations where install_id = $1
   order by activated_at, id limit ${MAX_ACTIVATIONS}`,
);

/** The activations that an install has told of, the oldest first. Reads all activations. */
export async function listInstallActivations(
  db: Queryable,
  installId: string,
): Promise<InstallActivation[]> {
  return queryRows(db, activationsStatement, [installId], LONG_STATEMENT_MS);
}

const countStatement = defineStatement(
  'install_count_events',
  Type.Object({ name: Type.String(), events: Type.Number() }),
  `select name, count(*) as events from events
   where received_at >= $2 and received_at < $3 and install_id = $1
   group by name`,
);

/** How many events an install sent on a day, by name. Reads the whole day. */
export async function countInstallEvents(
  db: Queryable,
  installId: string,
  day: Day,
): Promise<{ name: string; events: number }[]> {
  return queryRows(db, countStatement, [installId, ...boundsOf(day)], LONG_STATEMENT_MS);
}

const EventRow = Type.Object({
  event_id: Type.String(),
  received_at: Timestamp,
  session_id: Type.String(),
  name: Type.String(),
  occurred_at: Timestamp,
  told_at: Nullable.Moment,
  app_version: Type.String(),
  os_version: Nullable.Text,
  props: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
});

/** An event as it is stored. */
export type InstallEvent = Type.Static<typeof EventRow>;

const listStatement = defineStatement(
  'install_list_events',
  EventRow,
  `select event_id, received_at, session_id, name, occurred_at, told_at, app_version, os_version, props
   from events
   where received_at >= $2 and received_at < $3 and install_id = $1 and event_id > $4
   order by event_id limit $5`,
);

/** The events that an install sent on a day, by their id, from one id on. Reads the whole day. */
export async function listInstallEvents(
  db: Queryable,
  installId: string,
  page: { readonly day: Day; readonly afterId: string; readonly limit: number },
): Promise<InstallEvent[]> {
  const parameters = [installId, ...boundsOf(page.day), page.afterId, page.limit];
  return queryRows(db, listStatement, parameters, LONG_STATEMENT_MS);
}

/** Deletes the events that an install sent on a day, and gives how many there were. Reads the whole day. */
export async function deleteInstallEvents(
  db: Queryable,
  installId: string,
  day: Day,
): Promise<number> {
  const text = `delete from events where received_at >= $2 and received_at < $3 and install_id = $1`;
  return runLong(db, text, [installId, ...boundsOf(day)]);
}

function boundsOf(day: Day): readonly [Date, Date] {
  return [startOf(day), startOf(addDays(day, 1))];
}

const deleteUseStatement = defineStatement(
  'usage_day_delete_machine',
  Type.Object({ day: Type.String() }),
  `delete from usage_days where machine_key = $1 returning to_char(day, 'YYYY-MM-DD') as day`,
);

/** Deletes the days on which a machine was used, and gives them. */
export async function deleteMachineDays(db: Queryable, machineKey: string): Promise<Day[]> {
  return (await queryRows(db, deleteUseStatement, [machineKey])).map(({ day }) => day);
}

/** Deletes the day on which a machine was used first. */
export async function deleteFirstDay(db: Queryable, machineKey: string): Promise<void> {
  await runLong(db, 'delete from usage_first_days where machine_key = $1', [machineKey]);
}
