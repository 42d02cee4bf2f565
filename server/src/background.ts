import type { Context } from './context.ts';
import type { DiskSpace } from './db/embedded/disk-space.ts';
import { createAnalyticsTasks } from './features/analytics/housekeeping.ts';
import { createBillingJobs, createBillingTasks } from './features/billing/background.ts';
import { createKeyRefreshTask } from './features/entitlements/key-ring.ts';
import { createBuyerCleanup, createBuyerJobs } from './features/buyers/background.ts';
import { createKeyEmailJobs } from './features/key-emails/background.ts';
import { createReleaseTask } from './features/key-emails/requeue-emails.ts';
import { createLicenseTasks } from './features/licenses/background.ts';
import {
  createDeliveryQueue,
  createWebhookTasks,
} from './features/outgoing-webhooks/background.ts';
import { createCampaignQueue } from './features/outreach/campaigns/send-campaigns.ts';
import { createOutreachCleanup } from './features/outreach/outreach-cleanup.ts';
import { sendConfirmation } from './features/subscribers/send-confirmation.ts';
import { createSubscriberCleanup } from './features/subscribers/subscriber-cleanup.ts';
import { TaskRunner, type BackgroundTask, type Runner } from './jobs/background-task.ts';
import { createJobQueue, defineJobHandler, type JobHandler } from './jobs/job-queue.ts';
import { scheduleSingletons } from './jobs/queries.ts';
import { QueueRunner } from './jobs/work-queue.ts';

/** Creates the handlers of all kinds of jobs. */
export function createJobHandlers(context: Context): readonly JobHandler[] {
  return [
    ...createBillingJobs(context),
    ...createKeyEmailJobs(context),
    ...createBuyerJobs(context),
    defineJobHandler('send_confirmation', (payload, signal) =>
      sendConfirmation(context, payload, signal),
    ),
  ];
}

/** Every task of the service. */
function createTasks(
  context: Context,
  measurements: readonly BackgroundTask[],
  disk: DiskSpace | null,
): readonly BackgroundTask[] {
  return [
    ...(disk === null ? [] : [createDiskCheck(disk)]),
    createKeyRefreshTask(context),
    ...measurements,
    createReleaseTask(context),
    ...createBillingTasks(context),
    ...createLicenseTasks(context),
    ...createAnalyticsTasks(context),
    ...createWebhookTasks(context),
    createSubscriberCleanup(context),
    createBuyerCleanup(context),
    createOutreachCleanup(context),
  ];
}

function createDiskCheck(disk: DiskSpace): BackgroundTask {
  return {
    name: 'disk_check',
    scope: 'process',
    firstRunMs: 0,
    intervalMs: 5_000,
    event: 'disk.check',
    action: 'read the free disk space',
    failureLevel: 'error',
    run: () => disk.check(),
  };
}

/**
 * Creates the background work of this process: jobs, webhook deliveries and periodic tasks. Nothing runs before `start` and
 * `lead`.
 * @param measurements tasks that read numbers for health and metrics
 * @param disk null: the database is not embedded
 */
export async function createBackground(
  context: Context,
  measurements: readonly BackgroundTask[],
  disk: DiskSpace | null,
): Promise<Background> {
  const tasks = createTasks(context, measurements, disk);
  context.taskStatuses.declare(tasks);
  const singletons = tasks.filter(({ scope }) => scope === 'singleton');
  const enabled = singletons.filter(({ isEnabled = true }) => isEnabled);
  const disabled = singletons.filter((task) => !enabled.includes(task));
  await scheduleSingletons(context.pool, namesOf(enabled), namesOf(disabled));
  const jobs = createJobQueue({
    ...context,
    handlers: createJobHandlers(context),
    singletons: enabled,
  });
  const ofProcess = tasks.filter(({ scope }) => scope === 'process');
  const runTask = (task: BackgroundTask): Runner => new TaskRunner(task, context);
  return new Background(ofProcess.filter(({ isForLeader = false }) => !isForLeader).map(runTask), [
    new QueueRunner(jobs, context),
    new QueueRunner(createDeliveryQueue(context), context),
    new QueueRunner(createCampaignQueue(context), context),
    ...ofProcess.filter(({ isForLeader = false }) => isForLeader).map(runTask),
  ]);
}

/** The background work of a process. */
class Background {
  readonly #ofProcess: readonly Runner[];
  readonly #ofLeader: readonly Runner[];
  #leads = false;
  #isStopped = false;

  constructor(ofProcess: readonly Runner[], ofLeader: readonly Runner[]) {
    this.#ofProcess = ofProcess;
    this.#ofLeader = ofLeader;
  }

  /** Starts the tasks that every process runs. */
  start(): void {
    for (const runner of this.#ofProcess) runner.start();
  }

  /** Starts the jobs and the housekeeping, which one of the workers runs, or a process that is alone. */
  lead(): void {
    if (this.#leads || this.#isStopped) return;
    this.#leads = true;
    for (const runner of this.#ofLeader) runner.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const runners = [...this.#ofProcess, ...(this.#leads ? this.#ofLeader : [])];
    await Promise.all(runners.map((runner) => runner.stop()));
  }
}

function namesOf(tasks: readonly BackgroundTask[]): string[] {
  return tasks.map(({ name }) => name);
}
