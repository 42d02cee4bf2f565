import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { agentUnit, paths } from '../../paths.ts';
import type { ServiceStep } from '../../steps.ts';
import { lastLines, locate, type Machine, mustRun, succeeds } from '../machine.ts';
import type { Before, StepContext, StepKind } from '../step-kind.ts';

const START_TIMEOUT_MS = 15_000;
const PAUSE_MS = 100;

export const service: StepKind<ServiceStep> = {
  outlivesPlans: false,
  describe: ({ unit }) => `Enable and start ${unit}`,
  findSubject: ({ unit }) => ({ unit }),

  async isSatisfied({ unit }, context) {
    if (readsChanges(unit, context)) return false;
    return (await isActive(unit, context)) && (await isEnabled(unit, context));
  },

  async capture({ unit = '' }, context) {
    const active = (await isActive(unit, context)) ? ['active'] : [];
    const enabled = (await isEnabled(unit, context)) ? ['enabled'] : [];
    return { paths: [], facts: { state: [...active, ...enabled] } };
  },

  async apply({ unit }, context) {
    await mustRun(context, 'systemd does not read its units again:', [
      'systemctl',
      'daemon-reload',
    ]);
    await mustRun(context, `${unit} cannot be enabled:`, ['systemctl', 'enable', '--quiet', unit]);
    // systemd does not start a unit that failed too often until this.
    await context.runProgram('systemctl', ['reset-failed', unit]);
    const result = await context.runProgram('systemctl', ['restart', '--no-block', unit]);
    if (result.code !== 0) throw new Error(`${unit}: ${lastLines(result).join(' ')}`);
    await waitUntilActive(unit, context);
    context.changed.markNotified(unit);
    return {};
  },

  async undo({ subject: { unit = '' }, before }, context) {
    if (!isStated(before, 'enabled')) {
      await context.runProgram('systemctl', ['disable', '--quiet', unit]);
    }
    if (!isStated(before, 'active')) await context.runProgram('systemctl', ['stop', unit]);
    if (!isStated(before, 'enabled')) removeStamp(unit, context);
  },

  async afterUndo({ subject: { unit = '' }, before }, context) {
    const failure = `${unit} could not be brought back:`;
    await mustRun(context, failure, ['systemctl', 'daemon-reload']);
    await context.runProgram('systemctl', ['reset-failed', unit]);
    if (isStated(before, 'enabled')) {
      await mustRun(context, failure, ['systemctl', 'enable', '--quiet', unit]);
    }
    if (isStated(before, 'active')) await bringBack(unit, context);
  },
};

/** Removes the timestamp of a timer (systemd.timer(5), Persistent=), which systemd keeps after the timer is gone. */
function removeStamp(unit: string, machine: Machine): void {
  rmSync(locate(machine, `/var/lib/systemd/timers/stamp-${unit}`), { force: true });
}

/** Starts a unit again with its restored files; a failure to start does not stop the undo. */
async function bringBack(unit: string, context: StepContext): Promise<void> {
  if (await succeeds(context, ['systemctl', 'restart', unit])) return;
  context.report(
    `${unit} ran before and does not start again: see why (journalctl --unit ${unit} --lines 20), then start it (systemctl start ${unit}).`,
  );
}

function isStated({ facts }: Before, word: string): boolean {
  return facts['state']?.includes(word) === true;
}

/** Whether this run changed the unit itself or, for the agent, anything that it reads at its start. */
function readsChanges(unit: string, { changed }: StepContext): boolean {
  const recent = changed.since(unit);
  if (recent.includes(join(dirname(paths.unit), unit))) return true;
  const prefixes = unit === agentUnit ? [paths.program, dirname(paths.configuration)] : [];
  return recent.some((path) => prefixes.some((prefix) => path.startsWith(prefix)));
}

async function isActive(unit: string, machine: Machine): Promise<boolean> {
  return succeeds(machine, ['systemctl', 'is-active', '--quiet', unit]);
}

async function isEnabled(unit: string, machine: Machine): Promise<boolean> {
  return succeeds(machine, ['systemctl', 'is-enabled', '--quiet', unit]);
}

/**
 * @throws Error with the last lines of the unit's journal when it does not start
 */
async function waitUntilActive(unit: string, context: StepContext): Promise<void> {
  const { sleep } = context.services;
  for (let waitedMs = 0; waitedMs < START_TIMEOUT_MS; waitedMs += PAUSE_MS) {
    const { stdout } = await context.runProgram('systemctl', ['is-active', unit]);
    if (stdout.trim() === 'active') return;
    if (stdout.trim() === 'failed') break;
    await sleep(PAUSE_MS);
  }
  const newest = ['--unit', unit, '--lines', '12', '--no-pager', '--output', 'cat'];
  const journal = await context.runProgram('journalctl', newest);
  throw new Error([`${unit} does not start:`, ...lastLines(journal)].join('\n  '));
}
