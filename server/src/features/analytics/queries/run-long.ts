import { sendQuery } from '#server/db/send-query.ts';
import type { Parameter, Queryable } from '#server/db/statement.ts';

/** A day of many millions of events takes a minute. */
export const LONG_STATEMENT_MS = 5 * 60_000;

/**
 * Runs a statement that reads a day or more, which may take minutes, and gives the number of rows that it touched. It is not
 * prepared: it runs seldom, and is planned for its day.
 */
export async function runLong(
  db: Queryable,
  text: string,
  parameters: readonly Parameter[] = [],
): Promise<number> {
  const { rowCount } = await sendQuery(db, { text, values: [...parameters] }, LONG_STATEMENT_MS);
  return rowCount ?? 0;
}

/** {@link runLong}, for a statement that gives one number, in the column `number`. */
export async function measureLong(
  db: Queryable,
  text: string,
  parameters: readonly Parameter[],
): Promise<number> {
  const { rows } = await sendQuery(db, { text, values: [...parameters] }, LONG_STATEMENT_MS);
  return Number(rows[0]?.['number'] ?? 0);
}
