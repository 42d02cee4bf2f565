import { createJobHandlers } from '#server/background.ts';
import type { Context } from '#server/context.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';
import { createJobQueue } from '#server/jobs/job-queue.ts';
import { listJobs } from '#server/jobs/queries.ts';
import { QueueRunner } from '#server/jobs/work-queue.ts';

import { eventually } from './eventually.ts';

/** Runs due jobs like the service until none is left. */
export async function runDueJobs(
  context: Context,
  singletons: readonly BackgroundTask[] = [],
): Promise<void> {
  const handlers = createJobHandlers(context);
  const queue = createJobQueue({ ...context, handlers, singletons, pollIntervalMs: 10 });
  const runner = new QueueRunner(queue, context);
  runner.start();
  await eventually(async () => {
    const jobs = await listJobs(context.pool, ['waiting', 'running'], 100);
    return !jobs.some(({ nextAt, state }) => state === 'running' || nextAt <= new Date());
  });
  await runner.stop();
}
