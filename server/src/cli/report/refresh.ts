import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import type { Context } from '#server/context.ts';
import { runRollups } from '#server/features/analytics/rollups/run-rollups.ts';
import { failed } from '../command-error.ts';
import { jsonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { withProgress } from '../progress.ts';
import { withContext } from '../with-context.ts';

const RETRY_MS = 500;

/** A run of the service takes half a minute, and then pauses. */
const PATIENCE_MS = 2 * 60_000;

export function reportRefreshCommand(): Command {
  const command = new Command('refresh')
    .description(
      'Sum up now what reports are made of; the service does it every five minutes by itself.',
    )
    .addOption(jsonOption())
    .action(refresh);
  return withExamples(command, [['report refresh', 'Before a report that has to have the latest']]);
}

async function refresh(options: OutputOptions): Promise<void> {
  await withContext(async (ctx) => {
    const steps = await withProgress('steps', (report) => rollUpAll(ctx, report));
    printResult(options, { steps }, () => 'The reports are up to date.');
  });
}

/** Gives how many days, weeks and months it looked at. */
async function rollUpAll(ctx: Context, onStep: (done: number) => void): Promise<number> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  const { signal } = new AbortController();
  let steps = 0;
  const count = (done: number): void => onStep((steps = done));
  while ((await runRollups(ctx, { signal, everything: true, onStep: count })) === 'busy') {
    if (performance.now() > giveUpAt) {
      throw failed('Another process sums up the same and does not end: try again later.');
    }
    await sleep(RETRY_MS);
  }
  return steps;
}
