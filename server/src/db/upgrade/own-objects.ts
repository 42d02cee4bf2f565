import { Type } from 'typebox';

import { TABLES } from '../backup/tables.ts';
import { defineStatement, queryRows, type Queryable } from '../statement.ts';

const listStatement = defineStatement(
  'upgrade_list_own_objects',
  Type.Object({ object: Type.String() }),
  `select 'table ' || stored.oid::regclass as object
   from pg_class stored
   join pg_namespace on pg_namespace.oid = relnamespace
   left join pg_inherits on inhrelid = stored.oid
   where relkind in ('r', 'p', 'v', 'm') and nspname !~ '^(pg_|information_schema$)'
     and stored.relname <> 'schema_migrations'
     and coalesce(inhparent, stored.oid) not in
         (select to_regclass(name)::oid from unnest($1::text[]) name where to_regclass(name) is not null)
   union all
   select 'role ' || rolname from pg_roles where rolname !~ '^pg_' and rolname <> current_user
   union all
   select 'database ' || datname from pg_database
   where datname not in ('template0', 'template1', 'postgres', current_database())
   order by 1`,
);

/** Returns the tables, roles and databases that an operator has created, and that are not copied. */
export async function listOwnObjects(db: Queryable): Promise<string[]> {
  return (await queryRows(db, listStatement, [TABLES])).map(({ object }) => object);
}
