import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

/** A license in use would otherwise be written each day. */
const SEEN_RESOLUTION = `interval '30 days'`;

const refreshStatement = defineCommand(
  'license_activity_refresh',
  `insert into license_activity as known (license_id, active_machines, is_full, last_seen_at)
   select l.id, machines.active, machines.active >= l.max_activations, machines.seen_at
   from licenses l
   cross join lateral (
     select count(*) filter (where deactivated_at is null) as active, max(last_validated_at) as seen_at
     from activations where license_id = l.id
   ) as machines
   where l.id = any ($1::uuid[])
   order by l.id
   on conflict (license_id) do update
   set active_machines = excluded.active_machines, is_full = excluded.is_full, last_seen_at = excluded.last_seen_at
   where known.active_machines <> excluded.active_machines
      or known.is_full <> excluded.is_full
      or (known.last_seen_at is null) <> (excluded.last_seen_at is null)
      or known.last_seen_at < excluded.last_seen_at - ${SEEN_RESOLUTION}`,
);

/** Computes the roll-up of licenses from their machines, and stores what changed. */
export async function refreshLicenseActivity(
  db: Queryable,
  licenseIds: readonly string[],
): Promise<void> {
  await execute(db, refreshStatement, [licenseIds]);
}

const listIdsStatement = defineStatement(
  'license_activity_list_ids',
  Type.Object({ id: Type.String() }),
  `select id from licenses where id > $1 order by id limit $2`,
);

/** Lists the ids of licenses after an id, in their order. */
export async function listLicenseIdsAfter(
  db: Queryable,
  afterId: string,
  limit: number,
): Promise<string[]> {
  const rows = await queryRows(db, listIdsStatement, [afterId, limit]);
  return rows.map(({ id }) => id);
}

const listNewIdsStatement = defineStatement(
  'license_activity_list_new_ids',
  Type.Object({ id: Type.String() }),
  `select id from licenses
   where id > coalesce(
     (select license_id from license_activity order by license_id desc limit 1),
     '00000000-0000-0000-0000-000000000000')
   order by id limit $1`,
);

/** Lists the ids of licenses that are newer than all in the roll-up, in their order. */
export async function listNewLicenseIds(db: Queryable, limit: number): Promise<string[]> {
  const rows = await queryRows(db, listNewIdsStatement, [limit]);
  return rows.map(({ id }) => id);
}
