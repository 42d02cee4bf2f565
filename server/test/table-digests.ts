import type { Pool } from 'pg';

/** Returns the number and a hash of the rows of every table and partition, except that of the migrations. */
export async function digestTables(pool: Pool): Promise<Record<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'schema_migrations'
     order by relname`,
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await pool.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(md5(stored::text), '' order by md5(stored::text))), '') as digest
       from ${name} stored`,
    );
    digests[name] = rows[0]?.digest ?? '';
  }
  return digests;
}
