import { Type, type Static } from 'typebox';

import { runHot } from '#server/db/hot-statement.ts';
import {
  Nullable,
  Timestamp,
  defineStatement,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

/** The heartbeats of one machine in a batch. */
export interface MachineHeartbeats {
  readonly machineKey: string;
  readonly count: number;
  /** Null: not sent. */
  readonly appVersion: string | null;
  readonly osVersion: string | null;
}

/** Changes no indexed column (see the schema). Ordered by key, to avoid most deadlocks between processes. */
const upsertDays = {
  name: 'usage_day_upsert',
  text: `
    insert into usage_days as known (machine_key, day, first_at, last_at, beats, app_version, os_version)
    select key, ($2::timestamptz at time zone 'UTC')::date, $2, $2, beats, app, os
    from json_to_recordset($1::json) as beat (key uuid, beats integer, app text, os text)
    order by key
    on conflict (machine_key, day) do update
    set last_at = greatest(known.last_at, excluded.last_at), beats = known.beats + excluded.beats,
        app_version = coalesce(excluded.app_version, known.app_version),
        os_version = coalesce(excluded.os_version, known.os_version)
    returning machine_key, beats`,
};

/**
 * Adds heartbeats to the UTC day of `now`; without a sent version the stored one remains.
 * @param heartbeats one element per machine
 * @returns the heartbeats of each machine on that day, by key
 */
export async function upsertUsageDays(
  db: Queryable,
  heartbeats: readonly MachineHeartbeats[],
  now: Date,
): Promise<ReadonlyMap<string, number>> {
  const rows = heartbeats.map(({ machineKey, count, appVersion, osVersion }) => ({
    key: machineKey,
    beats: count,
    app: appVersion,
    os: osVersion,
  }));
  const result = await runHot(db, upsertDays, [JSON.stringify(rows), now.toISOString()]);
  return new Map(result.rows.map(([key, total]) => [key ?? '', Number(total)]));
}

const LastUseRow = Type.Object({
  machineKey: Type.String(),
  lastAt: Timestamp,
  appVersion: Nullable.Text,
  osVersion: Nullable.Text,
});

/** The last heartbeat of a machine. */
export type LastUse = Readonly<Static<typeof LastUseRow>>;

const listLastStatement = defineStatement(
  'usage_day_list_last',
  LastUseRow,
  `select machine_key, last_at, app_version, os_version
   from usage_days
   join (
     select machine_key, max(day) as day from usage_days where machine_key = any ($1::uuid[]) group by machine_key
   ) as newest using (machine_key, day)
   where machine_key = any ($1::uuid[])`,
);

/** Returns the last use of each machine that was ever used, by key. */
export async function listLastUses(
  db: Queryable,
  machineKeys: readonly string[],
): Promise<ReadonlyMap<string, LastUse>> {
  const rows = await queryRows(db, listLastStatement, [machineKeys]);
  return new Map(rows.map((row) => [row.machineKey, row]));
}
