import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { collectionResource, listResource } from './list-resource.ts';
import { operation } from './operation.ts';
import { dateTime, nullable, nullableString, oneOf, ref, text } from './schema.ts';

const JOB_STATES = ['failed', 'retrying', 'running', 'waiting'] as const;

const error = nullableString({
  description: 'The last error; null: none, or the last run succeeded.',
  examples: ['the mail relay did not accept it: timeout'],
});

const BackgroundJob = Type.Object(
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

export const jobs = listResource({
  id: 'Jobs',
  name: 'job',
  title: 'jobs',
  path: 'jobs',
  item: BackgroundJob,
  sorts: ['next_at', 'created_at', 'failed_at', 'attempts', 'name'],
  search: 'A part of the kind, the key, the payload or the last error.',
  filters: {
    state: Type.Optional(oneOf(JOB_STATES)),
    name: Type.Optional(text({ description: 'Only this kind of job.', maxLength: 200 })),
  },
  permissions: { read: 'jobs:read', export: 'jobs:export' },
});

const JobRetryRequest = Type.Object(
  { reason: Type.Optional(reason) },
  { $id: 'JobRetryRequest', additionalProperties: false },
);

const JobRetryAnswer = Type.Object(
  { retried: Type.Integer({ description: 'How many jobs are due now.', examples: [1] }) },
  { $id: 'JobRetryAnswer' },
);

export const retryJob = operation({
  id: 'retryJob',
  method: 'POST',
  path: 'jobs/:id/retry',
  summary: 'Run a job or a singleton task at once, with all its attempts',
  permission: 'jobs:retry',
  params: Type.Object({ id: text({ maxLength: 40, examples: ['17'] }) }),
  body: ref(JobRetryRequest),
  response: ref(JobRetryAnswer, 'It is due now.'),
  errors: ['not_possible'],
});

export const retryFailedJobs = operation({
  id: 'retryFailedJobs',
  method: 'POST',
  path: 'jobs/retry-failed',
  summary: 'Run every failed job at once, with all its attempts',
  permission: 'jobs:retry',
  body: ref(JobRetryRequest),
  response: ref(JobRetryAnswer, 'How many are due now.'),
});

const PeriodicTask = Type.Object(
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

export const tasks = collectionResource({
  id: 'Tasks',
  name: 'task',
  title: 'periodic tasks',
  path: 'tasks',
  item: PeriodicTask,
  permissions: { read: 'jobs:read', export: 'jobs:export' },
});
