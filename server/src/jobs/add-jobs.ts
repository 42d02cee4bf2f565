import { Type } from 'typebox';
import { Parse } from 'typebox/schema';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import { jobDefinitions, type JobName, type JobPayload } from './job-definitions.ts';

export interface JobOptions {
  /**
   * Two jobs of a kind with the same key are one: the later replaces the earlier that has not begun, with its time and a
   * full number of tries; one that is under way is left alone and followed by the new one.
   */
  readonly key?: string;
  /** Not before this moment; default: at once. */
  readonly runAt?: Date;
  /** How often it is tried; default: {@link DEFAULT_MAX_ATTEMPTS}. */
  readonly maxAttempts?: number;
}

/** A job to be done. */
export type NewJob = {
  readonly [Name in JobName]: {
    readonly name: Name;
    readonly payload: JobPayload<Name>;
  } & JobOptions;
}[JobName];

/** The pauses grow from seconds to six hours, so the last try comes four days after the first. */
const DEFAULT_MAX_ATTEMPTS = 25;

const addStatement = defineStatement(
  'job_add',
  Type.Object({ id: Type.Number() }),
  `select id from graphile_worker.add_jobs(array(
     select row(name, payload, null, run_at, max_attempts, key, priority, null)::graphile_worker.job_spec
     from unnest($1::text[], $2::json[], $3::timestamptz[], $4::smallint[], $5::text[], $6::smallint[])
       with ordinality as job (name, payload, run_at, max_attempts, key, priority, position)
     order by position
   ))`,
);

/**
 * Adds jobs in one statement; of those with the same key the last one counts. Inside a transaction they are done once it
 * is committed, and never if it is not.
 * @throws Error for a payload that is not what its kind of job takes
 */
export async function addJobs(db: Queryable, jobs: readonly NewJob[]): Promise<void> {
  const rows = inSettledOrder(jobs.map(toRow));
  if (rows.length === 0) return;
  await queryRows(db, addStatement, [
    rows.map((row) => row.name),
    rows.map((row) => row.payload),
    rows.map((row) => row.runAt),
    rows.map((row) => row.maxAttempts),
    rows.map((row) => row.key),
    rows.map((row) => row.priority),
  ]);
}

function toRow({ name, payload, key, runAt, maxAttempts = DEFAULT_MAX_ATTEMPTS }: NewJob) {
  const { payload: schema, priority } = jobDefinitions[name];
  return {
    name,
    payload: JSON.stringify(Parse(schema, payload)),
    runAt: runAt ?? null,
    maxAttempts,
    key: key === undefined ? null : `${name}:${key}`,
    priority,
  };
}

type JobRow = ReturnType<typeof toRow>;

/** Two transactions that add the same keys in the same order never wait for each other in a circle. */
function inSettledOrder(rows: readonly JobRow[]): JobRow[] {
  const keyed = new Map(rows.flatMap((row) => (row.key === null ? [] : [[row.key, row]])));
  const sorted = [...keyed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  return [...rows.filter((row) => row.key === null), ...sorted];
}
