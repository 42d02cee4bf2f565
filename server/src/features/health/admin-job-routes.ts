/** Background jobs and periodic tasks for operators. */
import {
  type BackgroundJob,
  BackgroundJobPath,
  BackgroundJobQuery,
  BackgroundJobRowsQuery,
  BackgroundJobs,
  JobRetryAnswer,
  JobRetryRequest,
  type PeriodicTask,
  PeriodicTasks,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import type { Clock } from '#server/clock.ts';
import { notPossible } from '#server/errors.ts';
import {
  answerPage,
  csvAnswer,
  readOrder,
  readPageRequest,
  answerCsv,
} from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { ADMIN, SUPPORT_FRESH, VIEWER, operatorOf } from '#server/http/require-operator.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import {
  exportJobs,
  exportTasks,
  listJobPage,
  listTasks,
  type JobListDependencies,
  type JobRecord,
} from './list-jobs.ts';
import { retryJobsManually } from './retry-jobs.ts';

const JOBS = '/api/v1/admin/jobs';

interface JobRouteDependencies extends JobListDependencies {
  readonly clock: Clock;
}

/** Registers jobs and tasks. Every role reads them: payloads hold ids and hashes, no keys and no addresses. */
export function registerJobRoutes(app: App, deps: JobRouteDependencies): void {
  app.get(JOBS, { config: VIEWER, schema: listOperation }, ({ query }) =>
    answerPage(
      readPageRequest(query, 'next_at'),
      (page) => listJobPage(deps, query, page),
      viewJob,
    ),
  );
  app.get(
    `${JOBS}/export`,
    { config: SUPPORT_FRESH, schema: exportOperation },
    async (request, reply) => {
      const order = readOrder(request.query, 'next_at');
      const jobs = await exportJobs(deps, order, request.query, operatorOf(request).actor);
      return answerCsv(reply, 'jobs', CSV_COLUMNS, jobs);
    },
  );
  app.get('/api/v1/admin/tasks', { config: VIEWER, schema: tasksOperation }, () => listTasks(deps));
  app.get(
    '/api/v1/admin/tasks/export',
    { config: SUPPORT_FRESH, schema: tasksExportOperation },
    async (request, reply) => {
      const tasks = await exportTasks(deps, operatorOf(request).actor);
      return answerCsv(reply, 'tasks', TASK_COLUMNS, tasks);
    },
  );
  registerRetries(app, deps);
}

function registerRetries(app: App, deps: JobRouteDependencies): void {
  app.post(`${JOBS}/:id/retry`, { config: ADMIN, schema: retryOperation }, async (request) => {
    const id = /^\d{1,15}$/u.test(request.params.id) ? Number(request.params.id) : 0;
    const { actor } = operatorOf(request);
    const retry = { ids: [id], actor, reason: request.body.reason ?? null };
    const retried = await retryJobsManually(deps, retry);
    if (retried === 0) throw notPossible('There is no such job any more, or it is running.');
    return { retried };
  });
  app.post(
    `${JOBS}/retry-failed`,
    { config: ADMIN, schema: retryAllOperation },
    async (request) => {
      const { actor } = operatorOf(request);
      const retry = { ids: 'failed' as const, actor, reason: request.body.reason ?? null };
      return { retried: await retryJobsManually(deps, retry) };
    },
  );
}

function viewJob(job: JobRecord): BackgroundJob {
  const { state } = job;
  return {
    id: String(job.id),
    name: job.name,
    key: job.key,
    payload: job.payload,
    state,
    attempts: job.attempts,
    max_attempts: job.maxAttempts,
    created_at: job.createdAt.toISOString(),
    next_at: state === 'waiting' || state === 'retrying' ? job.runAt.toISOString() : null,
    failed_at: job.failedAt?.toISOString() ?? null,
    last_error: job.lastError,
  };
}

const CSV_COLUMNS: CsvColumns<JobRecord> = {
  id: (job) => job.id,
  name: (job) => job.name,
  key: (job) => job.key,
  state: (job) => job.state,
  attempts: (job) => job.attempts,
  max_attempts: (job) => job.maxAttempts,
  created_at: (job) => job.createdAt,
  next_at: (job) => viewJob(job).next_at,
  failed_at: (job) => job.failedAt,
  last_error: (job) => job.lastError,
};

const TASK_COLUMNS: CsvColumns<PeriodicTask> = {
  name: (task) => task.name,
  scope: (task) => task.scope,
  state: (task) => task.state,
  interval_seconds: (task) => task.interval_seconds,
  last_finished_at: (task) => task.last_finished_at,
  last_took_ms: (task) => task.last_took_ms,
  last_failed_at: (task) => task.last_failed_at,
  last_error: (task) => task.last_error,
  next_at: (task) => task.next_at,
};

const shared = { tags: ['admin: health'] };

const listOperation = {
  ...shared,
  operationId: 'listJobs',
  summary: 'List background jobs',
  querystring: BackgroundJobQuery,
  response: { 200: ref(BackgroundJobs, 'A page of jobs, the one that is due first by default.') },
} satisfies FastifySchema;

const exportOperation = {
  ...shared,
  operationId: 'exportJobs',
  summary: 'Export background jobs as CSV',
  querystring: BackgroundJobRowsQuery,
  response: csvAnswer('One line for each job.'),
} satisfies FastifySchema;

const tasksOperation = {
  ...shared,
  operationId: 'listTasks',
  summary: 'List periodic tasks with their last and next run',
  response: { 200: ref(PeriodicTasks, 'Every task.') },
} satisfies FastifySchema;

const retryOperation = {
  ...shared,
  operationId: 'retryJob',
  summary: 'Run a job or a singleton task at once, with all its attempts',
  params: BackgroundJobPath,
  body: ref(JobRetryRequest),
  problems: ['not_possible'],
  response: { 200: ref(JobRetryAnswer, 'It is due now.') },
} satisfies FastifySchema;

const retryAllOperation = {
  ...shared,
  operationId: 'retryFailedJobs',
  summary: 'Run every failed job at once, with all its attempts',
  body: ref(JobRetryRequest),
  response: { 200: ref(JobRetryAnswer, 'How many are due now.') },
} satisfies FastifySchema;

const tasksExportOperation = {
  ...shared,
  operationId: 'exportTasks',
  summary: 'Export periodic tasks as CSV',
  response: csvAnswer('One line for each task.'),
} satisfies FastifySchema;
