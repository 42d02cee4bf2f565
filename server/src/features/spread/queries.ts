import { Type } from 'typebox';

import { sendQuery } from '#server/db/send-query.ts';
import { defineStatement, queryRow, queryRows, type Queryable } from '#server/db/statement.ts';

import { DATABASE_SETTINGS, SHARD_COUNT, SPREAD_TABLES, type SpreadTable } from './rules/layout.ts';

/** Citus waits 30 seconds for a server that is unreachable. */
const REACH_TIMEOUT_MS = 40_000;

const nodeStatement = defineStatement(
  'citus_list_nodes',
  Type.Object({
    name: Type.String(),
    isCoordinator: Type.Boolean(),
    isActive: Type.Boolean(),
    holdsShards: Type.Boolean(),
  }),
  `select nodename || ':' || nodeport as name, groupid = 0 as is_coordinator, isactive as is_active,
          shouldhaveshards as holds_shards
   from pg_dist_node where noderole = 'primary' order by groupid`,
);

/** Lists the servers of a Citus cluster, the coordinator first. */
export async function listNodes(
  db: Queryable,
): Promise<{ name: string; isCoordinator: boolean; isActive: boolean; holdsShards: boolean }[]> {
  return queryRows(db, nodeStatement);
}

const SHOW_PREPARED = 'show max_prepared_transactions';

/** Returns `max_prepared_transactions` of the coordinator. */
export async function readPreparedTransactions(db: Queryable): Promise<number> {
  const { rows } = await sendQuery(db, { text: SHOW_PREPARED });
  return Number(rows[0]?.['max_prepared_transactions']);
}

const workerStatement = defineStatement(
  'citus_ask_workers',
  Type.Object({ name: Type.String(), success: Type.Boolean(), result: Type.String() }),
  `select nodename || ':' || nodeport as name, success, coalesce(result, '') as result
   from run_command_on_workers('${SHOW_PREPARED}', parallel => true)`,
);

/** Returns `max_prepared_transactions` of each active worker, by its host and port; null if it does not answer. */
export async function askWorkers(db: Queryable): Promise<ReadonlyMap<string, number | null>> {
  const rows = await queryRows(db, workerStatement, [], REACH_TIMEOUT_MS);
  return new Map(rows.map(({ name, success, result }) => [name, success ? Number(result) : null]));
}

const ownerStatement = defineStatement(
  'citus_is_owner',
  Type.Object({ isOwner: Type.Boolean() }),
  `select pg_has_role(datdba, 'usage') and (
     select bool_and(pg_has_role(relowner, 'usage')) from pg_class where oid = any ($1::regclass[])
   ) as is_owner
   from pg_database where datname = current_database()`,
);

/** Whether the role owns the database and the tables that may be spread. */
export async function isOwner(db: Queryable): Promise<boolean> {
  const tables = SPREAD_TABLES.map(({ table }) => table);
  return (await queryRow(db, ownerStatement, [tables]))?.isOwner === true;
}

const settingStatement = defineStatement(
  'citus_list_settings',
  Type.Object({ name: Type.String(), setting: Type.String() }),
  'select name, setting from pg_settings where name = any ($1::text[])',
);

/** Returns the present values of `DATABASE_SETTINGS`. */
export async function readSettings(db: Queryable): Promise<Readonly<Record<string, string>>> {
  const rows = await queryRows(db, settingStatement, [Object.keys(DATABASE_SETTINGS)]);
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

const sizeStatement = defineStatement(
  'citus_measure_table',
  Type.Object({ bytes: Type.Number() }),
  'select coalesce(sum(pg_total_relation_size(relid)), 0)::bigint as bytes from pg_partition_tree($1::regclass)',
);

/** Returns the size of a local table with its partitions and indexes. */
export async function measureTable(db: Queryable, table: string): Promise<number> {
  return (await queryRow(db, sizeStatement, [table]))?.bytes ?? 0;
}

/** One connection to each worker copies the rows, since the transaction has used one. */
const begin = { text: `set local citus.multi_shard_modify_mode = 'sequential'` };

/** Prepares a transaction for {@link distributeTable}. */
export async function setSpreadTransaction(db: Queryable): Promise<void> {
  await sendQuery(db, begin);
}

/** Distributes a table and moves its rows; requires {@link setSpreadTransaction}. @param timeoutMs for each of its two statements */
export async function distributeTable(
  db: Queryable,
  { table, column, colocatedWith }: SpreadTable,
  timeoutMs: number,
): Promise<void> {
  const text =
    colocatedWith === null
      ? `select create_distributed_table($1, $2, colocate_with => 'none', shard_count => ${SHARD_COUNT})`
      : `select create_distributed_table($1, $2, colocate_with => '${colocatedWith}')`;
  await sendQuery(db, { text, values: [table, column] }, timeoutMs);
  const empty = 'select truncate_local_data_after_distributing_table($1)';
  await sendQuery(db, { text: empty, values: [table] }, timeoutMs);
}

const shardStatement = defineStatement(
  'citus_list_placements',
  Type.Object({ name: Type.String(), shards: Type.Integer() }),
  `select nodename || ':' || nodeport as name, count(placement.shardid)::integer as shards
   from pg_dist_node left join (
     pg_dist_placement placement join pg_dist_shard on pg_dist_shard.shardid = placement.shardid
   ) on placement.groupid = pg_dist_node.groupid
   where noderole = 'primary' and shouldhaveshards
   group by 1 order by 1`,
);

/** Counts the shards on each server that should have some. */
export async function listShardCounts(db: Queryable): Promise<{ name: string; shards: number }[]> {
  return queryRows(db, shardStatement);
}

/** Sets `DATABASE_SETTINGS` for the next connections to this database. */
export async function setDatabaseSettings(db: Queryable): Promise<void> {
  const { rows } = await sendQuery(db, { text: 'select quote_ident(current_database()) as name' });
  for (const [setting, value] of Object.entries(DATABASE_SETTINGS)) {
    const text = `alter database ${String(rows[0]?.['name'])} set ${setting} = '${value}'`;
    await sendQuery(db, { text });
  }
}
