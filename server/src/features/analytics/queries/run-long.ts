import { sendQuery } from '#server/db/send-query.ts';
import type { Parameter, Queryable } from '#server/db/statement.ts';

import { addDays, startOf, type Day } from '../rules/days.ts';

/** A day of many millions of events needs a minute. */
export const LONG_STATEMENT_MS = 5 * 60_000;

/**
 * Runs a statement that reads a day or more; returns the number of affected rows. It is not prepared: it runs rarely,
 * and the plan depends on the day.
 */
export async function runLong(
  db: Queryable,
  text: string,
  parameters: readonly Parameter[] = [],
): Promise<number> {
  const { rowCount } = await sendQuery(db, { text, values: [...parameters] }, LONG_STATEMENT_MS);
  return rowCount ?? 0;
}

/** Runs a long statement that returns one number, in the column `number`. */
export async function measureLong(
  db: Queryable,
  text: string,
  parameters: readonly Parameter[],
): Promise<number> {
  const { rows } = await sendQuery(db, { text, values: [...parameters] }, LONG_STATEMENT_MS);
  return Number(rows[0]?.['number'] ?? 0);
}

/** Returns the start of a day and the start of the next one. */
export function boundsOf(day: Day): readonly [Date, Date] {
  return [startOf(day), startOf(addDays(day, 1))];
}
