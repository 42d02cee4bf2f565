import { Command } from 'commander';

import { listJobs, type JobState } from '#server/jobs/queries.ts';

import { jsonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatTable, printNote, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface ListOptions extends OutputOptions {
  readonly all?: boolean;
}

const MAX_LISTED = 1_000;
const ALL_STATES: readonly JobState[] = ['waiting', 'running', 'given_up'];

export function jobsListCommand(): Command {
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
