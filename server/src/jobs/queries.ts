import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

const countDueStatement = defineStatement(
  'job_count_due',
  Type.Object({ due: Type.Number() }),
  `select count(*) as due from (
     select from graphile_worker._private_jobs
     where is_available and run_at <= now()
     limit $1
   ) as job`,
);

/** How many jobs could begin now, counted as far as `most`. Read from an index, so that it may be asked each second. */
export async function countDueJobs(db: Queryable, most: number): Promise<number> {
  return (await queryRow(db, countDueStatement, [most]))?.due ?? 0;
}

/** How many jobs there are, by what is to become of them. */
export interface JobNumbers {
  /** To be done, or being done. */
  readonly open: number;
  /** Tried as often as they may be, in vain; nothing happens to them by itself. */
  readonly givenUp: number;
}

const countStatement = defineStatement(
  'job_count',
  Type.Object({ open: Type.Number(), given_up: Type.Number() }),
  `select count(*) filter (where attempts < max_attempts or locked_at is not null) as open,
          count(*) filter (where attempts >= max_attempts and locked_at is null) as given_up
   from graphile_worker.jobs`,
);

/** Counts all jobs. */
export async function countJobs(db: Queryable): Promise<JobNumbers> {
  const row = await queryRow(db, countStatement);
  return { open: row?.open ?? 0, givenUp: row?.given_up ?? 0 };
}

const releaseStatement = defineStatement(
  'job_release_abandoned',
  Type.Object({ released: Type.Number() }),
  `with abandoned as (
     select array_agg(distinct locked_by) as workers, count(*) as released
     from graphile_worker.jobs
     where locked_at < now() - $1 * interval '1 millisecond'
   )
   select released, graphile_worker.force_unlock_workers(workers) is null as done from abandoned`,
);

/**
 * Gives jobs back that were begun so long ago that whoever began them is gone, killed with its process.
 * @param olderThanMs longer than any job may take
 * @returns how many
 */
export async function releaseAbandonedJobs(db: Queryable, olderThanMs: number): Promise<number> {
  return (await queryRow(db, releaseStatement, [olderThanMs]))?.released ?? 0;
}

const findKeyStatement = defineStatement(
  'job_find_key',
  Type.Object({ key: Nullable.Text }),
  'select key from graphile_worker.jobs where id = $1',
);

/** Whether another job has taken the key of this one since it began, and will do its work with newer facts. */
export async function isSuperseded(db: Queryable, jobId: string): Promise<boolean> {
  return (await queryRow(db, findKeyStatement, [jobId]))?.key === null;
}

/** `given_up`: tried as often as it may be. */
export type JobState = 'waiting' | 'running' | 'given_up';

/** A job as people see it; its payload stays where it is. */
export interface ListedJob {
  readonly id: number;
  readonly name: string;
  readonly key: string | null;
  readonly state: JobState;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly addedAt: Date;
  readonly nextAt: Date;
  readonly lastError: string | null;
}

const listStatement = defineStatement(
  'job_list',
  Type.Object({
    id: Type.Number(),
    name: Type.String(),
    key: Nullable.Text,
    state: Type.Union([Type.Literal('waiting'), Type.Literal('running'), Type.Literal('given_up')]),
    attempts: Type.Number(),
    max_attempts: Type.Number(),
    created_at: Timestamp,
    run_at: Timestamp,
    last_error: Nullable.Text,
  }),
  `select id, task_identifier as name, key, state, attempts, max_attempts, created_at, run_at, last_error
   from graphile_worker.jobs
   cross join lateral (
     select case when locked_at is not null then 'running'
                 when attempts >= max_attempts then 'given_up'
                 else 'waiting' end as state
   ) as judged
   where state = any($1::text[])
   order by run_at, id
   limit $2`,
);

/** Jobs in some states, those that are due first; at most `limit`. */
export async function listJobs(
  db: Queryable,
  states: readonly JobState[],
  limit: number,
): Promise<ListedJob[]> {
  const rows = await queryRows(db, listStatement, [states, limit]);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    key: row.key,
    state: row.state,
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    addedAt: row.created_at,
    nextAt: row.run_at,
    lastError: row.last_error,
  }));
}

const retryStatement = defineCommand(
  'job_retry',
  `select from graphile_worker.reschedule_jobs($1::bigint[], run_at => now(), attempts => 0)`,
);

/** Lets jobs begin now with a full number of tries, those that are not under way. Gives how many. */
export async function retryJobs(db: Queryable, ids: readonly number[]): Promise<number> {
  return execute(db, retryStatement, [ids]);
}
