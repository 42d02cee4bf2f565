/** What the checks of the auditor share. */
import type { Pool } from 'pg';
import type { Static, TObject } from 'typebox';

import { queryRows, type Parameter, type Statement } from '#server/db/statement.ts';

import type { Facts } from '../ledger/counters.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { JobLoss } from './job-losses.ts';

/** Statements of the auditor read whole tables. */
const TIMEOUT_MS = 120_000;

export interface AuditOptions {
  readonly pool: Pool;
  readonly ledger: Ledger;
  readonly masterSecret: string;
  /** When faults lost that e-mails with keys were sent. */
  readonly jobLosses: readonly JobLoss[];
}

/** Runs a statement of the auditor. */
export function readRows<Row extends TObject>(
  pool: Pool,
  statement: Statement<Row>,
  parameters: readonly Parameter[] = [],
): Promise<Static<Row>[]> {
  return queryRows(pool, statement, parameters, TIMEOUT_MS);
}

/** Runs a statement of the auditor that returns one row. */
export async function readRow<Row extends TObject>(
  pool: Pool,
  statement: Statement<Row>,
  parameters: readonly Parameter[] = [],
): Promise<Static<Row> | null> {
  const [row] = await readRows(pool, statement, parameters);
  return row ?? null;
}

/** Filters those whose change was acknowledged. */
export const listAcknowledged = (facts: Facts, indexes: readonly number[]): number[] =>
  indexes.filter((index) => facts.isAcknowledged(index));

export const pick = (counts: Uint16Array, indexes: readonly number[]): number[] =>
  indexes.map((index) => counts[index] ?? 0);

export const sum = (counts: Iterable<number>): number =>
  Array.from(counts).reduce((all, each) => all + each, 0);
