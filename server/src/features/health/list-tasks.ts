import type { PeriodicTask } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { BackgroundTask } from '#server/jobs/background-task.ts';
import { listSingletons, type SingletonRecord } from '#server/jobs/queries.ts';
import type { TaskStatus, TaskStatuses } from '#server/jobs/task-statuses.ts';

export interface TaskDependencies {
  readonly pool: Pool;
  readonly taskStatuses: Pick<TaskStatuses, 'tasks' | 'find' | 'readAll'>;
}

/** Lists every periodic task: those of this process from its memory, the others from their rows. */
export async function listTasks({ pool, taskStatuses }: TaskDependencies): Promise<PeriodicTask[]> {
  const rows = await listSingletons(pool);
  const byName = new Map(rows.map((row) => [row.name, row]));
  const statuses = await taskStatuses.readAll();
  return taskStatuses.tasks.map((task) =>
    task.scope === 'singleton'
      ? viewSingleton(task, byName.get(task.name))
      : viewProcessTask(task, statuses.get(task.name) ?? taskStatuses.find(task.name)),
  );
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
