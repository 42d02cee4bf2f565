/** Background jobs and periodic tasks for operators. */
import { jobs, retryFailedJobs, retryJob, tasks } from '@latchkey/contract';

import { notPossible } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import { serveCollection, serveList, type ListDependencies } from '../lists/serve-list.ts';
import { jobSource } from './list-jobs.ts';
import { listTasks, type TaskDependencies } from './list-tasks.ts';
import { retryJobsManually } from './retry-jobs.ts';

/** Registers jobs and tasks. Every role reads them: payloads hold ids and hashes, no keys and no addresses. */
export function registerJobRoutes(app: App, deps: ListDependencies & TaskDependencies): void {
  serveList(app, deps, jobs, jobSource(deps));
  serveCollection(app, deps, tasks, () => listTasks(deps));
  serveOperation(app, retryJob, async ({ params, body, operator }) => {
    const id = /^\d{1,15}$/u.test(params.id) ? Number(params.id) : 0;
    const { reason = null } = body;
    const retried = await retryJobsManually(deps, { ids: [id], actor: operator.actor, reason });
    if (retried === 0) throw notPossible('There is no such job any more, or it is running.');
    return { retried };
  });
  serveOperation(app, retryFailedJobs, async ({ body, operator }) => {
    const { reason = null } = body;
    const retry = { ids: 'failed', actor: operator.actor, reason } as const;
    return { retried: await retryJobsManually(deps, retry) };
  });
}
