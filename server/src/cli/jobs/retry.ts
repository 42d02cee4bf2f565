import { Command, InvalidArgumentError } from 'commander';

import { retryJobsByHand } from '#server/jobs/retry-jobs.ts';

import { currentActor } from '../actor.ts';
import { failed, usageError } from '../command-error.ts';
import { jsonOption, shortText, wholeNumber, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface RetryOptions extends OutputOptions {
  readonly all?: boolean;
  readonly reason?: string;
}

const MAX_IDS = 100;

export function jobsRetryCommand(): Command {
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
