import { Type } from 'typebox';

import { APPLICATION_NAME } from '#server/db/pool.ts';
import { defineStatement, queryRow, type Queryable } from '#server/db/statement.ts';

const countStatement = defineStatement(
  'master_secret_count_outdated_processes',
  Type.Object({ count: Type.Integer() }),
  `select count(distinct coalesce(client_addr::text, '') || application_name) as count
   from pg_stat_activity
   where datname = current_database() and application_name like $1 || ' %'
     and not ($2 = any (string_to_array(application_name, ' ')))`,
);

/**
 * How many kinds of processes are connected that cannot read what is stored under a master secret. Connections name the
 * secrets of their process; a pooler may hide them.
 */
export async function countOutdatedProcesses(db: Queryable, secretId: string): Promise<number> {
  return (await queryRow(db, countStatement, [APPLICATION_NAME, secretId]))?.count ?? 0;
}
