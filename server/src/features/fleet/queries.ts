import { Type, type Static } from 'typebox';

import {
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  Timestamp,
  toJsonRows,
  type Queryable,
} from '#server/db/statement.ts';

const ServerRow = Type.Object({
  id: Type.String(),
  name: Type.String(),
  address: Type.String(),
  labels: Type.Array(Type.String()),
  createdAt: Timestamp,
  version: Type.Integer(),
});

/** A listed server. */
export type ServerRecord = Readonly<Omit<Static<typeof ServerRow>, 'labels'>> & {
  readonly labels: readonly string[];
};

const COLUMNS = columnsOf(ServerRow);

const listStatement = defineStatement(
  'fleet_server_list',
  ServerRow,
  `select ${COLUMNS} from fleet_servers order by lower(name), name, id limit $1`,
);

/** Lists the servers by name. */
export async function listServerRecords(db: Queryable, limit: number): Promise<ServerRecord[]> {
  return queryRows(db, listStatement, [limit]);
}

const listAddressesStatement = defineStatement(
  'fleet_server_list_addresses',
  Type.Object({ address: Type.String() }),
  'select address from fleet_servers order by address limit $1',
);

/** Lists the addresses of the servers in alphabetical order. */
export async function listServerAddresses(db: Queryable, limit: number): Promise<string[]> {
  return (await queryRows(db, listAddressesStatement, [limit])).map(({ address }) => address);
}

const lockTableStatement = defineCommand(
  'fleet_server_lock_table',
  'lock table fleet_servers in share row exclusive mode',
);

/** Prevents concurrent changes of the list until the transaction ends, but not reads. */
export async function lockServers(db: Queryable): Promise<void> {
  await execute(db, lockTableStatement);
}

const insertStatement = defineCommand(
  'fleet_server_insert',
  `insert into fleet_servers (${COLUMNS})
   select ${COLUMNS} from jsonb_populate_recordset(null::fleet_servers, $1)`,
);

export async function insertServers(
  db: Queryable,
  servers: readonly ServerRecord[],
): Promise<void> {
  await execute(db, insertStatement, [toJsonRows(servers)]);
}

const updateStatement = defineCommand(
  'fleet_server_update',
  `update fleet_servers server
   set name = changed.name, address = changed.address, labels = changed.labels, version = server.version + 1
   from jsonb_populate_recordset(null::fleet_servers, $1) changed
   where server.id = changed.id`,
);

/** Updates the names, addresses and labels of servers, and counts their versions. */
export async function updateServers(
  db: Queryable,
  servers: readonly ServerRecord[],
): Promise<void> {
  await execute(db, updateStatement, [toJsonRows(servers)]);
}

const deleteStatement = defineCommand(
  'fleet_server_delete',
  'delete from fleet_servers where id = $1',
);

export async function deleteServer(db: Queryable, id: string): Promise<void> {
  await execute(db, deleteStatement, [id]);
}
