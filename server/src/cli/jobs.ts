import { Command, InvalidArgumentError } from 'commander';

import { type JobState, listJobs } from '#server/jobs/queries.ts';
import { retryJobsByHand } from '#server/jobs/retry-jobs.ts';

import { currentActor } from './actor.ts';
import { failed, usageError } from './command-error.ts';
import { jsonOption, shortText, wholeNumber, withExamples } from './options.ts';
import { formatTable, type OutputOptions, printNote, printResult } from './output.ts';
import { withContext } from './with-context.ts';

/** `latchkey jobs …` */
export function jobsCommand(): Command {
  return new Command('jobs')
    .description('What the service does by itself: mail to send, customers to look up.')
    .addCommand(jobsListCommand())
    .addCommand(jobsRetryCommand());
}

interface ListOptions extends OutputOptions {
  readonly all?: boolean;
}

const MAX_LISTED = 1_000;
const ALL_STATES: readonly JobState[] = ['waiting', 'running', 'given_up'];

function jobsListCommand(): Command {
  const command = new Command('list')
    .description(
      'List the jobs that were tried as often as they may be, in vain; they wait for latchkey jobs retry.',
    )
    .option('--all', 'also those that are to be done, and those that are being done')
    .addOption(jsonOption())
    .action(list);
  return withExamples(command, [
    ['jobs list', 'What was given up, and why'],
    ['jobs list --all', 'Everything that is to be done'],
  ]);
}

async function list(options: ListOptions): Promise<void> {
  await withContext(async ({ pool }) => {
    const states = options.all === true ? ALL_STATES : ['given_up' as const];
    const jobs = await listJobs(pool, states, MAX_LISTED);
    if (jobs.length === MAX_LISTED) printNote(`Only the first ${MAX_LISTED} are shown.`);
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
      json.length === 0
        ? 'There are none.'
        : formatTable(
            ['id', 'job', 'state', 'tries', 'added', 'next try', 'last error'],
            json.map((job) => [
              job.id,
              job.key ?? job.name,
              job.state.replace('_', ' '),
              `${job.attempts}/${job.max_attempts}`,
              job.added_at,
              job.next_at,
              job.last_error,
            ]),
          ),
    );
  });
}

interface RetryOptions extends OutputOptions {
  readonly all?: boolean;
  readonly reason?: string;
}

const MAX_IDS = 100;

function jobsRetryCommand(): Command {
  const command = new Command('retry')
    .description('Let jobs begin at once, with a full number of tries.')
    .argument('[ids...]', 'the ids of latchkey jobs list', collectIds)
    .option('--all', 'every job that was given up')
    .option('--reason <text>', 'why, for the audit log', shortText)
    .addOption(jsonOption())
    .action(retry);
  return withExamples(command, [
    ['jobs retry 17', 'One of them'],
    ['jobs retry --all --reason "the mail relay is back"', 'All that were given up'],
  ]);
}

function collectIds(text: string, before: readonly number[] = []): readonly number[] {
  if (before.length >= MAX_IDS) throw new InvalidArgumentError(`At most ${MAX_IDS} at once.`);
  return [...before, wholeNumber(1, Number.MAX_SAFE_INTEGER)(text)];
}

async function retry(ids: readonly number[] = [], options: RetryOptions): Promise<void> {
  if (ids.length > 0 === (options.all === true)) {
    throw usageError('Name the jobs by their ids, or all that were given up with --all.');
  }
  await withContext(async (ctx) => {
    const retried = await retryJobsByHand(ctx, {
      ids: options.all === true ? 'given_up' : ids,
      actor: currentActor(),
      reason: options.reason ?? null,
    });
    if (retried === 0 && ids.length > 0) {
      throw failed('There is no such job that is not under way: see latchkey jobs list --all.');
    }
    printResult(options, { retried }, () =>
      retried === 1 ? '1 job begins again.' : `${retried} jobs begin again.`,
    );
  });
}
