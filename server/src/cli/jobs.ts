/** `latchkey jobs`: background jobs. */
import { InvalidArgumentError } from 'commander';

import { type JobState, listJobs, UNLIMITED_ATTEMPTS } from '#server/jobs/queries.ts';
import { retryJobsManually } from '#server/features/health/retry-jobs.ts';
import { countOf } from '#server/lib/text.ts';

import { currentActor } from './actor.ts';
import { command, commandGroup } from './command.ts';
import { failed, usageError } from './command-error.ts';
import { reasonOption, wholeNumber } from './options.ts';
import { printNote } from './output.ts';
import { flag, optionalArgument } from './parameters.ts';
import { formatRows } from './table.ts';
import { contextCommand, withContext } from './with-context.ts';

const MAX_LISTED = 1_000;
const ALL_STATES: readonly JobState[] = ['waiting', 'running', 'failed'];

const listCommand = contextCommand({
  name: 'list',
  description: 'List jobs that exhausted their retries. They run again after latchkey jobs retry.',
  examples: {
    'jobs list': 'Failed jobs and their last error',
    'jobs list --all': 'Every job',
  },
  parameters: [flag('--all', 'include waiting and running jobs')],
  async run({ pool }, { all }) {
    const jobs = await listJobs(pool, all ? ALL_STATES : ['failed'], MAX_LISTED);
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
    const text = formatRows(json, 'No jobs.', [
      ['id', (job) => job.id],
      ['job', (job) => job.key ?? job.name],
      ['state', (job) => job.state],
      ['attempts', formatAttempts],
      ['added', (job) => job.added_at],
      ['next attempt', (job) => job.next_at],
      ['last error', (job) => job.last_error],
    ]);
    return { json, text };
  },
});

function formatAttempts(job: { readonly attempts: number; readonly max_attempts: number }): string {
  const { attempts, max_attempts: max } = job;
  return max === UNLIMITED_ATTEMPTS ? String(attempts) : `${attempts}/${max}`;
}

const MAX_IDS = 100;

const retryCommand = command({
  name: 'retry',
  description:
    'Run jobs at once, with all their attempts, after the cause of their failure is removed.',
  examples: {
    'jobs retry 17': 'Retry one job',
    'jobs retry --all --reason "mail relay is back"': 'Retry every failed job',
  },
  parameters: [
    optionalArgument('[ids...]', `ids from latchkey jobs list, at most ${MAX_IDS}`, collectIds),
    flag('--all', 'every job that exhausted its retries'),
    reasonOption,
  ],
  async run({ ids: named, all, reason }) {
    const ids = named ?? [];
    if (ids.length > 0 === all) {
      throw usageError('Name jobs by their ids, or use --all for every failed job.');
    }
    const retry = { ids: all ? ('failed' as const) : ids, actor: currentActor(), reason };
    const retried = await withContext((context) => retryJobsManually(context, retry));
    if (retried === 0 && !all) {
      throw failed('No such job, or it is running. See latchkey jobs list --all.');
    }
    return { json: { retried }, text: `Retrying ${countOf(retried, 'job')}.` };
  },
});

function collectIds(text: string, before: readonly number[] = []): readonly number[] {
  if (before.length >= MAX_IDS) throw new InvalidArgumentError(`Expected at most ${MAX_IDS} ids.`);
  return [...before, wholeNumber(1, Number.MAX_SAFE_INTEGER)(text)];
}

export const jobsCommand = commandGroup(
  'jobs',
  'Inspect and retry background jobs (mail, customer look-ups, clean-up).',
  [listCommand, retryCommand],
);
