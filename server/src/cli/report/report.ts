/** `latchkey report`: reports on usage and events. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Context } from '#server/context.ts';
import { runRollups } from '#server/features/analytics/rollups/run-rollups.ts';

import { commandGroup } from '../command.ts';
import { failed } from '../command-error.ts';
import { withProgress } from '../output.ts';
import { contextCommand } from '../with-context.ts';
import { dropsCommand, eventsCommand, propsCommand } from './events.ts';
import {
  machinesCommand,
  retentionCommand,
  systemsCommand,
  trialsCommand,
  versionsCommand,
} from './usage.ts';

const refreshCommand = contextCommand({
  name: 'refresh',
  description:
    'Roll up usage and events for reports now. The service does this every five minutes.',
  examples: { 'report refresh': 'Before a report that needs the latest data' },
  async run(context) {
    const steps = await withProgress('steps', (report) => rollUp(context, report));
    return { json: { steps }, text: 'The reports are up to date.' };
  },
});

const RETRY_MS = 500;

/** A roll-up of the service takes half a minute. */
const REFRESH_TIMEOUT_MS = 2 * 60_000;

/** Returns the number of days, weeks and months that were rolled up. */
async function rollUp(context: Context, onStep: (done: number) => void): Promise<number> {
  const deadline = performance.now() + REFRESH_TIMEOUT_MS;
  const { signal } = new AbortController();
  let steps = 0;
  const count = (done: number): void => onStep((steps = done));
  while ((await runRollups(context, { signal, everything: true, onStep: count })) === 'busy') {
    if (performance.now() > deadline) {
      throw failed('Another process is still running the roll-up: try again later.');
    }
    await sleep(RETRY_MS);
  }
  return steps;
}

export const reportCommand = commandGroup('report', 'Print reports on usage, events and trials.', [
  machinesCommand,
  versionsCommand,
  systemsCommand,
  eventsCommand,
  propsCommand,
  dropsCommand,
  retentionCommand,
  trialsCommand,
  refreshCommand,
]);
