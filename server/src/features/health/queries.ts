import { Type, type Static } from 'typebox';

import { defineStatement, queryRow, queryRows, type Queryable } from '#server/db/statement.ts';

const DatabaseSizeRow = Type.Object({
  version: Type.String(),
  bytes: Type.Number(),
  connections: Type.Number(),
  maxConnections: Type.Integer(),
});

export type DatabaseSize = Readonly<Static<typeof DatabaseSizeRow>>;

const sizeStatement = defineStatement(
  'database_measure',
  DatabaseSizeRow,
  `select split_part(current_setting('server_version'), ' ', 1) as version,
          pg_database_size(current_database()) as bytes,
          (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
          current_setting('max_connections')::integer as max_connections`,
);

/** Measures the database; reads the sizes of its files. */
export async function measureDatabase(db: Queryable): Promise<DatabaseSize> {
  const row = await queryRow(db, sizeStatement);
  return row ?? { version: '', bytes: 0, connections: 0, maxConnections: 0 };
}

const TableSizeRow = Type.Object({
  name: Type.String(),
  rows: Type.Number(),
  bytes: Type.Number(),
});

export type TableSize = Readonly<Static<typeof TableSizeRow>>;

const MAX_TABLES = 12;

const tablesStatement = defineStatement(
  'database_list_tables',
  TableSizeRow,
  `select coalesce(parent.relname, child.relname) as name,
          sum(greatest(child.reltuples, 0))::bigint as rows, sum(pg_total_relation_size(child.oid))::bigint as bytes
   from pg_class child
   left join pg_inherits on inhrelid = child.oid
   left join pg_class parent on parent.oid = inhparent
   where child.relkind = 'r' and child.relnamespace = 'public'::regnamespace
   group by 1 order by bytes desc, name limit ${MAX_TABLES}`,
);

/** Lists the largest tables with their indexes and partitions. The numbers of rows are estimates of the planner. */
export async function listTableSizes(db: Queryable): Promise<TableSize[]> {
  return queryRows(db, tablesStatement);
}
