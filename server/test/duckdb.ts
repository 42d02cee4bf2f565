import { DuckDBInstance } from '@duckdb/node-api';

/** Runs a query in DuckDB, which loads no extension from elsewhere, and returns rows of JSON values. */
export async function queryDuckDb(sql: string): Promise<Record<string, unknown>[]> {
  const database = await DuckDBInstance.create(':memory:', {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await database.connect();
  try {
    await connection.run(`set TimeZone = 'UTC'`);
    return (await connection.runAndReadAll(sql)).getRowObjectsJson();
  } finally {
    connection.closeSync();
    database.closeSync();
  }
}
