import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  queryRows,
  Timestamp,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

import { NOT_URGENT } from './job-definitions.ts';

/** The maximum attempts of a singleton task, which is retried forever: the largest smallint. */
export const UNLIMITED_ATTEMPTS = 32_767;

const scheduleStatement = defineCommand(
  'job_schedule_singletons',
  `with removed as (
     delete from jobs where key in (select name || ':singleton' from unnest($2::text[]) as task (name))
   )
   insert into jobs (name, payload, run_at, max_attempts, key, priority)
   select name, '{}', now(), ${UNLIMITED_ATTEMPTS}, name || ':singleton', $3::smallint from unnest($1::text[]) as task (name)
   order by name
   on conflict (key) do update set run_at = now(), attempts = 0`,
);

/** Makes singleton tasks due now, and removes those that are disabled. A running task continues. */
export async function scheduleSingletons(
  db: Queryable,
  enabled: readonly string[],
  disabled: readonly string[],
): Promise<void> {
  await execute(db, scheduleStatement, [enabled, disabled, NOT_URGENT]);
}

const ClaimedJobRow = Type.Object({
  id: Type.Number(),
  leaseId: Type.String(),
  name: Type.String(),
  payload: Type.Unknown(),
  /** With this attempt. */
  attempts: Type.Integer(),
  maxAttempts: Type.Integer(),
  /** Whether the process that had the previous lease did not store an outcome. */
  isAbandoned: Type.Boolean(),
});

/** A job on which this process has a lease. */
export type ClaimedJob = Readonly<Static<typeof ClaimedJobRow>>;

const claimStatement = defineStatement(
  'job_claim',
  ClaimedJobRow,
  `with due as (
     select id, lease_id is not null as is_abandoned from jobs
     where attempts < max_attempts and run_at <= now() and (leased_until is null or leased_until <= now())
       and name = any ($1::text[])
     order by priority, run_at, id
     limit $3
     for update skip locked
   )
   update jobs job
   set attempts = job.attempts + 1, lease_id = gen_random_uuid(),
       leased_until = now() + kind.lease_ms * interval '1 millisecond'
   from due, unnest($1::text[], $2::bigint[]) as kind (name, lease_ms)
   where job.id = due.id and job.name = kind.name
   returning job.id, job.lease_id, job.name, job.payload, job.attempts, job.max_attempts, due.is_abandoned`,
);

/** A kind of job or a singleton task, and how long it is leased. */
export interface LeasedKind {
  readonly name: string;
  readonly leaseMs: number;
}

/** Takes a lease on jobs that are due and counts the attempt. */
export async function claimJobs(
  db: Queryable,
  kinds: readonly LeasedKind[],
  limit: number,
): Promise<ClaimedJob[]> {
  return queryRows(db, claimStatement, [...toColumns(kinds, ['name', 'leaseMs']), limit]);
}

type Lease = Pick<ClaimedJob, 'id' | 'leaseId'>;

const deleteStatement = defineCommand(
  'job_delete_done',
  'delete from jobs where id = $1 and lease_id = $2',
);

/** Deletes a job that is done, unless it was replaced. */
export async function deleteJob(db: Queryable, { id, leaseId }: Lease): Promise<void> {
  await execute(db, deleteStatement, [id, leaseId]);
}

const failStatement = defineCommand(
  'job_record_failure',
  `update jobs
   set lease_id = null, leased_until = null, last_error = $3, run_at = now() + $4 * interval '1 millisecond',
       finished_at = now(), failed_at = now(), took_ms = $5
   where id = $1 and lease_id = $2`,
);

/** A failed attempt. */
interface FailedAttempt {
  readonly error: string;
  /** Until the next attempt. */
  readonly delayMs: number;
  readonly tookMs: number;
}

/** Schedules the next attempt. Returns whether the job is still there and was not replaced. */
export async function recordFailure(
  db: Queryable,
  { id, leaseId }: Lease,
  { error, delayMs, tookMs }: FailedAttempt,
): Promise<boolean> {
  const parameters = [id, leaseId, error, delayMs, Math.round(tookMs)];
  return (await execute(db, failStatement, parameters)) > 0;
}

const rescheduleStatement = defineCommand(
  'job_reschedule_singleton',
  `update jobs
   set lease_id = null, leased_until = null, attempts = 0, last_error = $3::text, run_at = now() + $4 * interval '1 millisecond',
       finished_at = now(), failed_at = case when $3::text is null then failed_at else now() end, took_ms = $5
   where id = $1 and lease_id = $2`,
);

/** A run of a singleton task. */
interface SingletonRun {
  /** Why it failed; null: it succeeded. */
  readonly error: string | null;
  /** Until the next run. */
  readonly delayMs: number;
  readonly tookMs: number;
}

/** Schedules the next run of a singleton task. */
export async function rescheduleSingleton(
  db: Queryable,
  { id, leaseId }: Lease,
  { error, delayMs, tookMs }: SingletonRun,
): Promise<void> {
  const parameters = [id, leaseId, error, delayMs, Math.round(tookMs)];
  await execute(db, rescheduleStatement, parameters);
}

const JobNumbersRow = Type.Object({
  /** Waiting or running, without the rows of singleton tasks. */
  open: Type.Number(),
  /** Jobs that exhausted their attempts. */
  failed: Type.Number(),
});

/** How many jobs there are by state. */
export type JobNumbers = Readonly<Static<typeof JobNumbersRow>>;

const countStatement = defineStatement(
  'job_count',
  JobNumbersRow,
  `select count(*) filter (where attempts < max_attempts or leased_until > now()) as open,
          count(*) filter (where attempts >= max_attempts and leased_until > now() is not true) as failed
   from jobs where key is distinct from name || ':singleton'`,
);

export async function countJobs(db: Queryable): Promise<JobNumbers> {
  return (await queryRow(db, countStatement)) ?? { open: 0, failed: 0 };
}

const JobState = Type.Enum(['waiting', 'running', 'failed']);

/** `failed`: the job exhausted its attempts. */
export type JobState = Static<typeof JobState>;

const ListedJobRow = Type.Object({
  id: Type.Number(),
  name: Type.String(),
  key: Nullable.Text,
  state: JobState,
  attempts: Type.Number(),
  maxAttempts: Type.Number(),
  addedAt: Timestamp,
  nextAt: Timestamp,
  lastError: Nullable.Text,
});

/** A job as it is listed, without its payload. */
export type ListedJob = Readonly<Static<typeof ListedJobRow>>;

const listStatement = defineStatement(
  'job_list',
  ListedJobRow,
  `select id, name, key, state, attempts, max_attempts, created_at as added_at, run_at as next_at, last_error
   from jobs
   cross join lateral (
     select case when leased_until > now() then 'running'
                 when attempts >= max_attempts then 'failed'
                 else 'waiting' end as state
   ) as derived
   where state = any ($1::text[])
   order by run_at, id
   limit $2`,
);

/** Lists jobs in some states, in the order in which they are due. */
export async function listJobs(
  db: Queryable,
  states: readonly JobState[],
  limit: number,
): Promise<ListedJob[]> {
  return queryRows(db, listStatement, [states, limit]);
}

const SingletonRow = Type.Object({
  id: Type.Number(),
  name: Type.String(),
  runAt: Timestamp,
  isRunning: Type.Boolean(),
  finishedAt: Nullable.Timestamp,
  failedAt: Nullable.Timestamp,
  tookMs: Type.Union([Type.Integer(), Type.Null()]),
  lastError: Nullable.Text,
});

/** The row of a singleton task. */
export type SingletonRecord = Readonly<Static<typeof SingletonRow>>;

const singletonStatement = defineStatement(
  'job_list_singletons',
  SingletonRow,
  `select id, name, run_at, coalesce(leased_until > now(), false) as is_running, finished_at, failed_at, took_ms, last_error
   from jobs where key = name || ':singleton' order by name`,
);

/** Lists the rows of singleton tasks. */
export async function listSingletons(db: Queryable): Promise<SingletonRecord[]> {
  return queryRows(db, singletonStatement);
}

const retryStatement = defineCommand(
  'job_retry',
  `update jobs set run_at = now(), attempts = 0
   where id = any ($1::bigint[]) and leased_until > now() is not true`,
);

/** Makes jobs due now with all their attempts, except those that run. Returns how many. */
export async function retryJobs(db: Queryable, ids: readonly number[]): Promise<number> {
  return execute(db, retryStatement, [ids]);
}
