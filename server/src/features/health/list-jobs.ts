import type { BackgroundJobRowsQuery, PeriodicTask, PeriodicTasks } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import {
  condition,
  queryAllPages,
  queryPage,
  type Condition,
  type ListOrder,
  type Page,
  type PageRequest,
} from '#server/db/list.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';
import { jobList, type JobRecord } from '#server/jobs/list-jobs.ts';
import { listSingletons, type SingletonRecord } from '#server/jobs/queries.ts';
import type { TaskStatus, TaskStatuses } from '#server/jobs/task-statuses.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import { recordAccess } from '../audit/record-access.ts';

export type { JobRecord };

export interface JobListDependencies {
  readonly pool: Pool;
  readonly databaseLimiter: Pick<ConcurrencyLimiter, 'run'>;
  readonly taskStatuses: Pick<TaskStatuses, 'tasks' | 'find' | 'readAll'>;
}

type Filters = Pick<BackgroundJobRowsQuery, 'state' | 'name' | 'search'>;

/** Lists a page of jobs, without the rows of periodic tasks. */
export function listJobPage(
  { pool }: Pick<JobListDependencies, 'pool'>,
  filters: Filters,
  request: PageRequest,
): Promise<Page<JobRecord>> {
  return queryPage(pool, jobList, request, toConditions(filters));
}

/** Reads all jobs of a filter, after an audit entry: the text of an error is free. */
export async function exportJobs(
  deps: JobListDependencies & { readonly clock: Clock },
  order: ListOrder,
  filters: Filters,
  actor: string,
): Promise<AsyncIterable<JobRecord>> {
  const { state = null, name = null } = filters;
  await recordAccess(deps, {
    actor,
    action: 'job.export',
    subjectId: 'jobs',
    reason: null,
    details: { state, name },
  });
  return queryAllPages(deps, jobList, order, toConditions(filters));
}

function toConditions({ state, name, search = '' }: Filters): Condition[] {
  const part = search.trim();
  return [
    ...(state === undefined ? [] : [condition('j.state = ?', state)]),
    ...(name === undefined ? [] : [condition('j.name = ?', name)]),
    ...(part === ''
      ? []
      : [
          condition(
            `position(lower(?) in lower(concat_ws(' ', j.name, j.key, j.payload::text, j.last_error))) > 0`,
            part,
          ),
        ]),
  ];
}

/** Lists every periodic task: those of this process from its memory, the others from their rows. */
export async function listTasks({
  pool,
  taskStatuses,
}: JobListDependencies): Promise<PeriodicTasks> {
  const rows = await listSingletons(pool);
  const byName = new Map(rows.map((row) => [row.name, row]));
  const statuses = await taskStatuses.readAll();
  return {
    items: taskStatuses.tasks.map((task) =>
      task.scope === 'singleton'
        ? viewSingleton(task, byName.get(task.name))
        : viewProcessTask(task, statuses.get(task.name) ?? taskStatuses.find(task.name)),
    ),
  };
}

/** Lists every periodic task, after an audit entry: the text of an error is free. */
export async function exportTasks(
  deps: JobListDependencies & { readonly clock: Clock },
  actor: string,
): Promise<readonly PeriodicTask[]> {
  const entry = { actor, action: 'task.export', subjectId: 'tasks', reason: null, details: {} };
  await recordAccess(deps, entry);
  return (await listTasks(deps)).items;
}

function viewSingleton(task: BackgroundTask, row: SingletonRecord | undefined): PeriodicTask {
  if (row === undefined) return { ...describe(task), ...DISABLED };
  return {
    ...describe(task),
    state: row.isRunning ? 'running' : row.lastError === null ? 'waiting' : 'failing',
    last_finished_at: row.finishedAt?.toISOString() ?? null,
    last_took_ms: row.tookMs,
    last_failed_at: row.failedAt?.toISOString() ?? null,
    last_error: row.lastError,
    next_at: row.isRunning ? null : row.runAt.toISOString(),
    job_id: String(row.id),
  };
}

const DISABLED = {
  state: 'disabled',
  last_finished_at: null,
  last_took_ms: null,
  last_failed_at: null,
  last_error: null,
  next_at: null,
  job_id: null,
} as const;

function viewProcessTask(task: BackgroundTask, status: TaskStatus): PeriodicTask {
  return {
    ...describe(task),
    state: status.isRunning ? 'running' : status.lastError === null ? 'waiting' : 'failing',
    last_finished_at: status.finishedAt?.toISOString() ?? null,
    last_took_ms: status.tookMs,
    last_failed_at: status.failedAt?.toISOString() ?? null,
    last_error: status.lastError,
    next_at: status.nextAt?.toISOString() ?? null,
    job_id: null,
  };
}

function describe({ name, action, scope, intervalMs }: BackgroundTask) {
  const seconds = intervalMs === Infinity ? null : intervalMs / 1_000;
  return { name, action, scope, interval_seconds: seconds };
}
