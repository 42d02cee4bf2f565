import { Parse } from 'typebox/schema';

import { defineCommand, execute, toColumns, type Queryable } from '#server/db/statement.ts';

import { jobDefinitions, type JobName, type JobPayload } from './job-definitions.ts';

export interface JobOptions {
  /**
   * A job replaces the job of the same kind and key, with its time and its attempts. A running job continues, and
   * the new one runs after or beside it.
   */
  readonly key?: string;
  /** The earliest start. Default: now. */
  readonly runAt?: Date | undefined;
  /** Default: {@link DEFAULT_MAX_ATTEMPTS}. */
  readonly maxAttempts?: number;
}

/** A job to add. */
export type NewJob = {
  readonly [Name in JobName]: {
    readonly name: Name;
    readonly payload: JobPayload<Name>;
  } & JobOptions;
}[JobName];

/** The delays grow from seconds to six hours, so that the last attempt is four days after the first. */
const DEFAULT_MAX_ATTEMPTS = 25;

// Replacing clears the lease: the process that runs the replaced job can no longer store its outcome.
const addStatement = defineCommand(
  'job_add',
  `insert into jobs (name, payload, run_at, max_attempts, key, priority)
   select name, payload, coalesce(run_at, now()), max_attempts, key, priority
   from unnest($1::text[], $2::jsonb[], $3::timestamptz[], $4::smallint[], $5::text[], $6::smallint[])
     with ordinality as job (name, payload, run_at, max_attempts, key, priority, position)
   order by position
   on conflict (key) do update
   set payload = excluded.payload, run_at = excluded.run_at, attempts = 0, max_attempts = excluded.max_attempts,
       priority = excluded.priority, last_error = null, lease_id = null, leased_until = null`,
);

/**
 * Adds jobs in one statement; of those with the same key the last one counts. Inside a transaction they run once it is
 * committed, and never if it is rolled back.
 * @throws Error for a payload that does not match its kind of job
 */
export async function addJobs(db: Queryable, jobs: readonly NewJob[]): Promise<void> {
  const rows = inLockOrder(jobs.map(toRow));
  if (rows.length === 0) return;
  const columns = toColumns(rows, ['name', 'payload', 'runAt', 'maxAttempts', 'key', 'priority']);
  await execute(db, addStatement, columns);
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

/** Keyed jobs last and sorted: transactions that add the same keys lock them in the same order. */
function inLockOrder(rows: readonly JobRow[]): JobRow[] {
  const keyed = new Map(rows.flatMap((row) => (row.key === null ? [] : [[row.key, row]])));
  const sorted = [...keyed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  return [...rows.filter((row) => row.key === null), ...sorted];
}
