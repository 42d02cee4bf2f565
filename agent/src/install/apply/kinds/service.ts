// Units of systemd that are enabled and started.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { agentUnit, paths } from '../../paths.ts';
import type { ServiceStep } from '../../steps.ts';
import { lastLines, locate, type Machine, mustRun, ProgramError, succeeds } from '../machine.ts';
import type { CapturedState } from '../journal-entry.ts';
import { type StepContext, type StepKind, waitUntil } from '../step-kind.ts';

const START_WAIT = { timeoutMs: 15_000, pauseMs: 100 };

export const service: StepKind<ServiceStep> = {
  describe: ({ unit }) => `Enable and start ${unit}`,
  findSubject: ({ unit }) => ({ unit }),

  async isSatisfied({ unit }, context) {
    if (readsChanges(unit, context)) return false;
    return (
      (await isInState(unit, 'active', context)) && (await isInState(unit, 'enabled', context))
    );
  },

  async capture({ unit = '' }, context) {
    const states = ['active', 'enabled'] as const;
    const checks = await Promise.all(states.map((state) => isInState(unit, state, context)));
    return { paths: [], facts: { state: states.filter((_, at) => checks[at]) } };
  },

  async apply({ unit }, context) {
    await mustRun(context, 'systemd could not reload its units:', ['systemctl', 'daemon-reload']);
    const enable = ['systemctl', 'enable', '--quiet', unit];
    await mustRun(context, `${unit} could not be enabled:`, enable);
    // Without this, systemd does not start a unit that failed too often.
    await context.runProgram('systemctl', ['reset-failed', unit]);
    const result = await context.runProgram('systemctl', ['restart', '--no-block', unit]);
    if (result.code !== 0) throw new Error(`${unit}: ${lastLines(result).join(' ')}`);
    await waitUntilActive(unit, context);
    context.changed.markNotified(unit);
    return {};
  },

  async undo({ subject: { unit = '' }, before }, context) {
    const wasEnabled = hadState(before, 'enabled');
    if (!wasEnabled) await context.runProgram('systemctl', ['disable', '--quiet', unit]);
    if (!hadState(before, 'active')) await context.runProgram('systemctl', ['stop', unit]);
    if (!wasEnabled) removeStamp(unit, context);
  },

  describeUndo: ({ subject }) => `Stop and disable ${subject['unit']}`,

  async afterUndo({ subject: { unit = '' }, before }, context) {
    const failure = `${unit} could not be restored:`;
    await mustRun(context, failure, ['systemctl', 'daemon-reload']);
    await context.runProgram('systemctl', ['reset-failed', unit]);
    if (hadState(before, 'enabled')) {
      await mustRun(context, failure, ['systemctl', 'enable', '--quiet', unit]);
    }
    if (hadState(before, 'active')) await startAgain(unit, context);
  },
};

/** Removes the timestamp of a timer (systemd.timer(5), Persistent=), which systemd keeps after the timer is gone. */
function removeStamp(unit: string, machine: Machine): void {
  rmSync(locate(machine, `/var/lib/systemd/timers/stamp-${unit}`), { force: true });
}

/** Starts a unit again with its restored files; a failure to start does not stop the undo. */
async function startAgain(unit: string, context: StepContext): Promise<void> {
  if (await succeeds(context, ['systemctl', 'restart', unit])) return;
  context.report(
    `${unit} ran before and could not be started again: find the cause (journalctl --unit ${unit} --lines 20), then start it (systemctl start ${unit}).`,
  );
}

function hadState({ facts }: CapturedState, state: string): boolean {
  return facts['state']?.includes(state) === true;
}

/** Whether this run changed the unit or, for the agent, a file that it reads at its start. */
function readsChanges(unit: string, { changed }: StepContext): boolean {
  const recent = changed.since(unit);
  if (recent.includes(join(dirname(paths.unit), unit))) return true;
  const prefixes = unit === agentUnit ? [paths.program, dirname(paths.configuration)] : [];
  return recent.some((path) => prefixes.some((prefix) => path.startsWith(prefix)));
}

async function isInState(
  unit: string,
  state: 'active' | 'enabled',
  machine: Machine,
): Promise<boolean> {
  return succeeds(machine, ['systemctl', `is-${state}`, '--quiet', unit]);
}

/** @throws Error with the last lines of the unit's journal when it does not start */
async function waitUntilActive(unit: string, context: StepContext): Promise<void> {
  let state = '';
  const isSettled = async () => {
    state = (await context.runProgram('systemctl', ['is-active', unit])).stdout.trim();
    return state === 'active' || state === 'failed';
  };
  await waitUntil(context, isSettled, START_WAIT);
  if (state === 'active') return;
  const options = ['--unit', unit, '--lines', '12', '--no-pager', '--output', 'cat'];
  throw new ProgramError(
    `${unit} does not start:`,
    await context.runProgram('journalctl', options),
  );
}
