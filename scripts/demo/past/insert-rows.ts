import type { Pool } from 'pg';

const ROWS_AT_ONCE = 10_000;

/**
 * Inserts rows in large statements; existing keys are kept.
 * @param columns the SQL type of each column, in the order of the values
 */
export async function insertRows<Row>(
  pool: Pool,
  table: string,
  columns: Readonly<Record<string, string>>,
  rows: readonly Row[],
  toValues: (row: Row) => readonly unknown[],
): Promise<void> {
  const names = Object.keys(columns);
  const parameters = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  const text = `insert into ${table} (${names.join(', ')})
    select * from unnest(${parameters.join(', ')}) on conflict do nothing`;
  let insertion: Promise<unknown> = Promise.resolve();
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const values = rows.slice(start, start + ROWS_AT_ONCE).map(toValues);
    const parametersOf = names.map((_, index) => values.map((row) => row[index]));
    // The database inserts rows while this process prepares the next ones.
    await insertion;
    insertion = pool.query(text, parametersOf);
  }
  await insertion;
}
