import { Type, type Static } from 'typebox';

import {
  Nullable,
  Timestamp,
  columnsOf,
  defineStatement,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { StatusRow } from '../../licenses/facts.ts';

const FactsRow = Type.Object({ ...StatusRow.properties, customerEmail: Nullable.Text });

const MachineActivationRow = Type.Object({
  ...FactsRow.properties,
  activationId: Type.String(),
  installId: Nullable.Text,
  isActive: Type.Boolean(),
  osVersion: Nullable.Text,
  appVersion: Nullable.Text,
  activatedAt: Timestamp,
  lastSeenAt: Timestamp,
});

/** An activation of a machine, with the facts and the id of its license. */
export type MachineActivation = Readonly<Static<typeof MachineActivationRow>>;

const MAX_ACTIVATIONS = 200;
const MACHINE = 'coalesce(a.machine_id, a.machine_digest)';

const activationsStatement = defineStatement(
  'machine_list_activations',
  MachineActivationRow,
  `select ${columnsOf(FactsRow, 'l')}, a.id as activation_id, a.install_id, a.deactivated_at is null as is_active,
          a.os_version, a.app_version, a.activated_at, a.last_validated_at as last_seen_at
   from activations a join licenses l on l.id = a.license_id
   where left(${MACHINE}, 200) = left($1, 200) and ${MACHINE} = $1
   order by (a.deactivated_at is null) desc, a.last_validated_at desc
   limit ${MAX_ACTIVATIONS}`,
);

/** Lists the activations of a machine, as operators see it. */
export async function listActivationsOfMachine(
  db: Queryable,
  machineId: string,
): Promise<MachineActivation[]> {
  return queryRows(db, activationsStatement, [machineId]);
}

const DayRow = Type.Object({
  day: Type.String(),
  beats: Type.Integer(),
  firstAt: Timestamp,
  lastAt: Timestamp,
  appVersion: Nullable.Text,
  osVersion: Nullable.Text,
});

/** A day of use of a machine. */
export type MachineDay = Readonly<Static<typeof DayRow>>;

const MAX_DAYS = 90;

/** `offset 0` prevents that PostgreSQL walks all days, the newest first, to find those of one machine. */
const daysStatement = defineStatement(
  'machine_list_days',
  DayRow,
  `select to_char(day, 'YYYY-MM-DD') as day, beats, first_at, last_at, app_version, os_version
   from (select * from usage_days where machine_key = any ($1::uuid[]) offset 0) as used
   order by used.day desc limit ${MAX_DAYS}`,
);

/** Lists the last days of use of a machine, newest first. @param machineKeys its keys under all master secrets */
export async function listMachineDays(
  db: Queryable,
  machineKeys: readonly string[],
): Promise<MachineDay[]> {
  return queryRows(db, daysStatement, [machineKeys]);
}

const firstDayStatement = defineStatement(
  'machine_find_first_day',
  Type.Object({ day: Nullable.Text }),
  `select to_char(least(
     (select min(first_day) from usage_first_days where machine_key = any ($1::uuid[])),
     (select min(day) from usage_days where machine_key = any ($1::uuid[]))), 'YYYY-MM-DD') as day`,
);

/** Returns the first day of use of a machine, or null. */
export async function findFirstDay(
  db: Queryable,
  machineKeys: readonly string[],
): Promise<string | null> {
  return (await queryRow(db, firstDayStatement, [machineKeys]))?.day ?? null;
}
