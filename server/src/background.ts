import type { Context } from './context.ts';
import { createAnalyticsTasks } from './features/analytics/housekeeping.ts';
import { createBillingJobs, createBillingTasks } from './features/billing/background.ts';
import { createReleaseTask } from './features/billing/key-emails/release-held-emails.ts';
import { createKeyRefreshTask } from './features/entitlements/key-ring.ts';
import type { BacklogCounter } from './features/health/count-backlog.ts';
import {
  createDeliveryQueue,
  createWebhookTasks,
} from './features/outgoing-webhooks/background.ts';
import { createOutreachCleanup } from './features/outreach/outreach-cleanup.ts';
import { sendConfirmation } from './features/subscribers/send-confirmation.ts';
import { createSubscriberCleanup } from './features/subscribers/subscriber-cleanup.ts';
import { TaskRunner, type BackgroundTask, type Runner } from './jobs/background-task.ts';
import { createJobQueue, defineJobHandler, type JobHandler } from './jobs/job-queue.ts';
import { scheduleSingletons } from './jobs/queries.ts';
import { QueueRunner } from './jobs/work-queue.ts';

/** How every kind of job runs. */
export function createJobHandlers(ctx: Context): readonly JobHandler[] {
  return [
    ...createBillingJobs(ctx),
    defineJobHandler('send_confirmation', (payload, signal) =>
      sendConfirmation(ctx, payload, signal),
    ),
  ];
}

/** Every task of the service. */
function createTasks(ctx: Context, backlog: BacklogCounter): readonly BackgroundTask[] {
  return [
    createKeyRefreshTask(ctx),
    backlog.task,
    createReleaseTask(ctx),
    ...createBillingTasks(ctx),
    ...createAnalyticsTasks(ctx),
    ...createWebhookTasks(ctx),
    createSubscriberCleanup(ctx),
    createOutreachCleanup(ctx),
  ];
}

/** Everything that this process does beside requests, and alongside other processes. Nothing runs before `start`. */
export async function createBackground(ctx: Context, backlog: BacklogCounter): Promise<Runner> {
  const tasks = createTasks(ctx, backlog);
  const singletons = tasks.filter(({ scope }) => scope === 'singleton');
  const enabled = singletons.filter(({ isEnabled = true }) => isEnabled);
  const disabled = singletons.filter((task) => !enabled.includes(task));
  await scheduleSingletons(ctx.pool, namesOf(enabled), namesOf(disabled));
  const jobs = createJobQueue({ ...ctx, handlers: createJobHandlers(ctx), singletons: enabled });
  const runners: readonly Runner[] = [
    new QueueRunner(jobs, ctx),
    new QueueRunner(createDeliveryQueue(ctx), ctx),
    ...tasks.filter(({ scope }) => scope === 'process').map((task) => new TaskRunner(task, ctx)),
  ];
  return {
    start: () => runners.forEach((runner) => runner.start()),
    stop: async () => void (await Promise.all(runners.map((runner) => runner.stop()))),
  };
}

function namesOf(tasks: readonly BackgroundTask[]): string[] {
  return tasks.map(({ name }) => name);
}
