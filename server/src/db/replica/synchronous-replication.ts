import { Type, type Static } from 'typebox';

import { defineStatement, queryRow, type Queryable } from '../statement.ts';

const Row = Type.Object({
  /** `synchronous_standby_names` */
  names: Type.String(),
  /** `synchronous_commit` */
  commit: Type.String(),
  /** The synchronous standbys that are connected; null: the role may not see them. */
  standbys: Type.Union([Type.Integer(), Type.Null()]),
});

/** How commits of the primary wait for standbys. */
export type SynchronousReplication = Readonly<Static<typeof Row>>;

const statement = defineStatement(
  'replication_find_synchronous',
  Row,
  `select current_setting('synchronous_standby_names') as names, current_setting('synchronous_commit') as commit,
          (select case when count(*) = count(sync_state)
                  then count(*) filter (where sync_state in ('sync', 'quorum')) end
           from pg_stat_replication)::integer as standbys`,
);

/** Reads how commits wait for standbys. Roles without `pg_monitor` do not see which standbys are synchronous. */
export async function readSynchronousReplication(db: Queryable): Promise<SynchronousReplication> {
  const row = await queryRow(db, statement);
  if (row === null) throw new Error('the primary reported no replication');
  return row;
}
