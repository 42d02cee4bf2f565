import { type Static, Type } from 'typebox';

import { listOf, listQuery, reason, rowsQuery } from './admin-list.ts';
import { dateTime, nullable, nullableString, oneOf, ref, text } from './schema.ts';

const JOB_STATES = ['failed', 'retrying', 'running', 'waiting'] as const;

const error = nullableString({
  description: 'The last error; null: none, or the last run succeeded.',
  examples: ['the mail relay did not accept it: timeout'],
});

export const BackgroundJob = Type.Object(
  {
    id: Type.String({ examples: ['17'] }),
    name: Type.String({ description: 'The kind of job.', examples: ['send_key_email'] }),
    key: nullableString({
      description: 'A job replaces the job with the same key.',
      examples: ['send_key_email:txn_01h8'],
    }),
    payload: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      examples: [{ provider: 'paddle', transactionId: 'txn_01h8' }],
    }),
    state: oneOf(JOB_STATES, {
      description:
        '`failed`: it exhausted its attempts; `retrying`: it waits for another attempt after a failure.',
    }),
    attempts: Type.Integer({ examples: [3] }),
    max_attempts: Type.Integer({ examples: [25] }),
    created_at: dateTime({ examples: ['2026-11-22T10:00:00.000Z'] }),
    next_at: nullable(
      dateTime({
        description: 'When it is due; null while it runs, and after it failed.',
        examples: ['2026-11-22T10:05:00.000Z'],
      }),
    ),
    failed_at: nullable(
      dateTime({
        description: 'The end of the last attempt that failed.',
        examples: ['2026-11-22T10:01:00.000Z'],
      }),
    ),
    last_error: error,
  },
  { $id: 'BackgroundJob' },
);
export type BackgroundJob = Static<typeof BackgroundJob>;

export const BackgroundJobs = listOf(BackgroundJob, 'BackgroundJobs');
export type BackgroundJobs = Static<typeof BackgroundJobs>;

const filters = {
  state: Type.Optional(oneOf(JOB_STATES)),
  name: Type.Optional(text({ description: 'Only this kind of job.', maxLength: 200 })),
  search: Type.Optional(
    text({
      description: 'A part of the kind, the key, the payload or the last error.',
      maxLength: 320,
    }),
  ),
};

const SORTS = ['next_at', 'created_at', 'failed_at', 'attempts', 'name'] as const;

export const BackgroundJobQuery = listQuery(SORTS, filters);
export type BackgroundJobQuery = Static<typeof BackgroundJobQuery>;

export const BackgroundJobRowsQuery = rowsQuery(SORTS, filters);
export type BackgroundJobRowsQuery = Static<typeof BackgroundJobRowsQuery>;

export const BackgroundJobPath = Type.Object({
  id: text({ maxLength: 40, examples: ['17'] }),
});

export const JobRetryRequest = Type.Object(
  { reason: Type.Optional(reason) },
  { $id: 'JobRetryRequest' },
);
export type JobRetryRequest = Static<typeof JobRetryRequest>;

export const JobRetryAnswer = Type.Object(
  { retried: Type.Integer({ description: 'How many jobs are due now.', examples: [1] }) },
  { $id: 'JobRetryAnswer' },
);
export type JobRetryAnswer = Static<typeof JobRetryAnswer>;

export const PeriodicTask = Type.Object(
  {
    name: Type.String({ examples: ['rollups'] }),
    action: Type.String({
      description: 'A verb phrase in English.',
      examples: ['update the roll-ups'],
    }),
    scope: oneOf(['process', 'singleton'], {
      description:
        '`process`: each process runs it, and these are the times of the one that answers; `singleton`: one process at a time runs it.',
    }),
    state: oneOf(['waiting', 'running', 'failing', 'disabled'], {
      description: '`failing`: its last run failed; it runs again.',
    }),
    interval_seconds: nullable(
      Type.Unsafe<number>({
        type: 'number',
        description: 'From the end of a run to the next; null: it runs once, after a start.',
        examples: [300],
      }),
    ),
    last_finished_at: nullable(dateTime({ examples: ['2026-11-22T10:00:00.000Z'] })),
    last_took_ms: nullable(
      Type.Unsafe<number>({ type: 'integer', description: 'Its duration.', examples: [120] }),
    ),
    last_failed_at: nullable(dateTime({ examples: ['2026-11-20T10:00:00.000Z'] })),
    last_error: error,
    next_at: nullable(dateTime({ examples: ['2026-11-22T10:05:00.000Z'] })),
    job_id: nullableString({
      description: 'For `retry`, which runs it now; null for a task of each process.',
      examples: ['3'],
    }),
  },
  { $id: 'PeriodicTask' },
);
export type PeriodicTask = Static<typeof PeriodicTask>;

export const PeriodicTasks = Type.Object(
  { items: Type.Array(ref(PeriodicTask)) },
  { $id: 'PeriodicTasks' },
);
export type PeriodicTasks = Static<typeof PeriodicTasks>;

/** The named schemas of jobs and tasks. */
export const jobSchemas = [
  BackgroundJob,
  BackgroundJobs,
  JobRetryRequest,
  JobRetryAnswer,
  PeriodicTask,
  PeriodicTasks,
] as const;
