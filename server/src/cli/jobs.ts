/** `latchkey jobs`: background jobs. */
import { Command, InvalidArgumentError } from 'commander';

import { type JobState, listJobs, UNLIMITED_ATTEMPTS } from '#server/jobs/queries.ts';
import { retryJobsByHand } from '#server/jobs/retry-jobs.ts';

import { currentActor } from './actor.ts';
import { failed, usageError } from './command-error.ts';
import { jsonOption, newCommand, reasonOption, wholeNumber } from './options.ts';
import { countOf, type OutputOptions, printNote, printResult } from './output.ts';
import { formatRows } from './table.ts';
import { withContext } from './with-context.ts';

export function jobsCommand(): Command {
  return new Command('jobs')
    .description('Inspect and retry background jobs (mail, customer look-ups, clean-up).')
    .addCommand(listCommand())
    .addCommand(retryCommand());
}

interface ListOptions extends OutputOptions {
  readonly all?: boolean;
}

const MAX_LISTED = 1_000;
const ALL_STATES: readonly JobState[] = ['waiting', 'running', 'given_up'];

function listCommand(): Command {
  return newCommand(
    'list',
    'List jobs that exhausted their retries. They run again after latchkey jobs retry.',
    [
      ['jobs list', 'Failed jobs and their last error'],
      ['jobs list --all', 'Every job'],
    ],
  )
    .option('--all', 'include waiting and running jobs')
    .addOption(jsonOption())
    .action(list);
}

async function list(options: ListOptions): Promise<void> {
  await withContext(async ({ pool }) => {
    const states = options.all === true ? ALL_STATES : ['given_up' as const];
    const jobs = await listJobs(pool, states, MAX_LISTED);
    if (jobs.length === MAX_LISTED) printNote(`Only the first ${MAX_LISTED} jobs are shown.`);
    const json = jobs.map((job) => ({
      id: job.id,
      name: job.name,
      key: job.key,
      state: job.state,
      attempts: job.attempts,
      max_attempts: job.maxAttempts,
      added_at: job.addedAt,
      next_at: job.state === 'waiting' ? job.nextAt : null,
      last_error: job.lastError,
    }));
    printResult(options, json, () =>
      formatRows(json, 'No jobs.', [
        ['id', (job) => job.id],
        ['job', (job) => job.key ?? job.name],
        ['state', (job) => (job.state === 'given_up' ? 'failed' : job.state)],
        ['attempts', formatAttempts],
        ['added', (job) => job.added_at],
        ['next attempt', (job) => job.next_at],
        ['last error', (job) => job.last_error],
      ]),
    );
  });
}

interface RetryOptions extends OutputOptions {
  readonly all?: boolean;
  readonly reason?: string;
}

const MAX_IDS = 100;

function retryCommand(): Command {
  return newCommand('retry', 'Run jobs now, and allow them all their attempts again.', [
    ['jobs retry 17', 'Retry one job'],
    ['jobs retry --all --reason "mail relay is back"', 'Retry every failed job'],
  ])
    .argument('[ids...]', `ids from latchkey jobs list, at most ${MAX_IDS}`, collectIds)
    .option('--all', 'every job that exhausted its retries')
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(retry);
}

function collectIds(text: string, before: readonly number[] = []): readonly number[] {
  if (before.length >= MAX_IDS) throw new InvalidArgumentError(`Expected at most ${MAX_IDS} ids.`);
  return [...before, wholeNumber(1, Number.MAX_SAFE_INTEGER)(text)];
}

async function retry(ids: readonly number[] = [], options: RetryOptions): Promise<void> {
  if (ids.length > 0 === (options.all === true)) {
    throw usageError('Name jobs by their ids, or use --all for every failed job.');
  }
  await withContext(async (context) => {
    const retried = await retryJobsByHand(context, {
      ids: options.all === true ? 'given_up' : ids,
      actor: currentActor(),
      reason: options.reason ?? null,
    });
    if (retried === 0 && ids.length > 0) {
      throw failed('No such job, or it is running. See latchkey jobs list --all.');
    }
    printResult(options, { retried }, () => `Retrying ${countOf(retried, 'job')}.`);
  });
}

function formatAttempts(job: { readonly attempts: number; readonly max_attempts: number }): string {
  const { attempts, max_attempts: max } = job;
  return max === UNLIMITED_ATTEMPTS ? String(attempts) : `${attempts}/${max}`;
}
