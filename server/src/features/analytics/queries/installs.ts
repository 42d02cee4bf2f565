import { Type } from 'typebox';

import {
  Nullable,
  Timestamp,
  defineStatement,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import { boundsOf, LONG_STATEMENT_MS, runLong } from './run-long.ts';

const ActivationRow = Type.Object({
  license_id: Type.String(),
  activation_id: Type.String(),
  machine_id: Nullable.Text,
  usage_sharing: Type.Union([Type.Boolean(), Type.Null()]),
  usage_sharing_reported_at: Nullable.Timestamp,
  os_version: Nullable.Text,
  app_version: Nullable.Text,
  activated_at: Timestamp,
  deactivated_at: Nullable.Timestamp,
  last_validated_at: Timestamp,
  validation_count: Type.Number(),
});

/** An activation of an install, without license key and fingerprint. */
export type InstallActivation = Type.Static<typeof ActivationRow>;

/** More than any install has, unless a broken client uses one id on all machines. */
const MAX_ACTIVATIONS = 1_000;

const activationsStatement = defineStatement(
  'install_list_activations',
  ActivationRow,
  `select license_id, id as activation_id, machine_id, usage_sharing, usage_sharing_reported_at, os_version,
          app_version, activated_at, deactivated_at, last_validated_at, validation_count
   from activations where install_id = $1
   order by activated_at, id limit ${MAX_ACTIVATIONS}`,
);

/** Returns the activations of an install, oldest first. Reads all activations. */
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

/** Counts the events of an install on a day, by name. Reads the whole day if it has no index yet. */
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
  client_occurred_at: Nullable.Timestamp,
  app_version: Type.String(),
  os_version: Nullable.Text,
  props: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
});

export type InstallEvent = Type.Static<typeof EventRow>;

const listStatement = defineStatement(
  'install_list_events',
  EventRow,
  `select event_id, received_at, session_id, name, occurred_at, client_occurred_at, app_version, os_version, props
   from events
   where received_at >= $2 and received_at < $3 and install_id = $1 and event_id > $4
   order by event_id limit $5`,
);

/** Returns a page of the events of an install on a day, ordered by id. Reads the whole day if it has no index yet. */
export async function listInstallEvents(
  db: Queryable,
  installId: string,
  page: { readonly day: Day; readonly afterId: string; readonly limit: number },
): Promise<InstallEvent[]> {
  const parameters = [installId, ...boundsOf(page.day), page.afterId, page.limit];
  return queryRows(db, listStatement, parameters, LONG_STATEMENT_MS);
}

/** Deletes the events of an install on a day; returns how many. Reads the whole day if it has no index yet. */
export async function deleteInstallEvents(
  db: Queryable,
  installId: string,
  day: Day,
): Promise<number> {
  const text = `delete from events where received_at >= $2 and received_at < $3 and install_id = $1`;
  return runLong(db, text, [installId, ...boundsOf(day)]);
}

/** The days are formatted outside, because on Citus `returning` may contain only immutable functions. */
const deleteUseStatement = defineStatement(
  'usage_day_delete_machine',
  Type.Object({ day: Type.String() }),
  `with deleted as (delete from usage_days where machine_key = $1 returning day)
   select to_char(day, 'YYYY-MM-DD') as day from deleted`,
);

/** Deletes the days of use of a machine, and returns them. */
export async function deleteMachineDays(db: Queryable, machineKey: string): Promise<Day[]> {
  return (await queryRows(db, deleteUseStatement, [machineKey])).map(({ day }) => day);
}

/** Deletes the first day of use of a machine. */
export async function deleteFirstDay(db: Queryable, machineKey: string): Promise<void> {
  await runLong(db, 'delete from usage_first_days where machine_key = $1', [machineKey]);
}
