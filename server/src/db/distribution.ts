/** Tables that Citus distributes over several servers. */
import { Type, type Static } from 'typebox';

import { defineStatement, Nullable, queryRow, queryRows, type Queryable } from './statement.ts';

const installedStatement = defineStatement(
  'citus_find',
  Type.Object({ version: Nullable.Text }),
  `select (select extversion from pg_extension where extname = 'citus') as version`,
);

/** Returns the version of Citus in this database, or null without it. */
export async function findCitusVersion(db: Queryable): Promise<string | null> {
  return (await queryRow(db, installedStatement))?.version ?? null;
}

const groupStatement = defineStatement(
  'citus_find_group',
  Type.Object({ groupId: Type.Integer() }),
  'select groupid as group_id from pg_dist_local_group',
);

/** Whether this server is a worker of a Citus cluster. A server that no cluster contains is none. */
export async function isWorker(db: Queryable): Promise<boolean> {
  if ((await findCitusVersion(db)) === null) return false;
  const row = await queryRow(db, groupStatement);
  return row !== null && row.groupId !== 0;
}

const DistributedTableRow = Type.Object({
  table: Type.String(),
  /** Null: a reference table, or one that Citus manages on the coordinator. */
  column: Nullable.Text,
  colocationId: Type.Integer(),
  shards: Type.Integer(),
});

/** A table that Citus manages, without partitions. */
export type DistributedTable = Readonly<Static<typeof DistributedTableRow>>;

const listStatement = defineStatement(
  'citus_list_tables',
  DistributedTableRow,
  `select relation.relname as table, column_to_column_name(logicalrelid, partkey) as column, colocationid as colocation_id,
          (select count(*)::integer from pg_dist_shard shard where shard.logicalrelid = managed.logicalrelid) as shards
   from pg_dist_partition managed join pg_class relation on relation.oid = logicalrelid
   where not relispartition order by 1`,
);

/** Returns the tables that Citus manages, by name; fails without Citus. */
export async function listManagedTables(db: Queryable): Promise<DistributedTable[]> {
  return queryRows(db, listStatement);
}

/** Returns the tables that Citus manages, by name; none without Citus. */
export async function listDistributedTables(db: Queryable): Promise<DistributedTable[]> {
  return (await findCitusVersion(db)) === null ? [] : listManagedTables(db);
}
