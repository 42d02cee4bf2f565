import { setTimeout as sleep } from 'node:timers/promises';

import { messageOf } from '#server/lib/unknown-values.ts';

import type { Expectations, FaultWindow } from '../expectations/expectations.ts';
import type { Violations } from '../expectations/violations.ts';
import { planFaults } from '../plan/fault-times.ts';
import type { Fault, FaultTarget } from './fault.ts';

/** Without an unusual outcome for this long, the service has recovered. */
const QUIET_MS = 1_500;
const POLL_MS = 100;

/** How long faults may begin after the day, on a machine where they take longer than planned. */
const LATEST_MS = 5 * 60_000;

export interface SkippedFault {
  readonly name: string;
  readonly reason: string;
}

interface FaultRun {
  readonly target: FaultTarget;
  readonly expectations: Expectations;
  readonly violations: Violations;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly stop: AbortSignal;
  readonly report: (line: string) => void;
}

/** Finds the faults that can be caused here, and why the others cannot. */
export async function selectFaults(
  faults: readonly Fault[],
  target: FaultTarget,
): Promise<{ readonly possible: readonly Fault[]; readonly skipped: readonly SkippedFault[] }> {
  const possible: Fault[] = [];
  const skipped: SkippedFault[] = [];
  for (const fault of faults) {
    const reason = await fault.findObstacle(target);
    if (reason === null) possible.push(fault);
    else skipped.push({ name: fault.name, reason });
  }
  return { possible, skipped };
}

/**
 * Causes faults at their planned times, one after the other, and waits for the recovery of each.
 * @returns those whose turn came minutes after the day
 */
export async function runFaults(faults: readonly Fault[], run: FaultRun): Promise<SkippedFault[]> {
  const { durationMs, startedAt, stop } = run;
  const skipped: SkippedFault[] = [];
  for (const { atMs, fault: index } of planFaults(faults.length, durationMs)) {
    const fault = faults[index];
    const waitMs = startedAt + atMs - performance.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted || fault === undefined) break;
    if (performance.now() < startedAt + durationMs + LATEST_MS) await runFault(fault, run);
    else skipped.push({ name: fault.name, reason: 'the faults before it took too long' });
  }
  for (const { name, reason } of skipped) run.report(`skipped the fault "${name}": ${reason}`);
  return skipped;
}

async function runFault(fault: Fault, run: FaultRun): Promise<void> {
  const { expectations, report, target } = run;
  const interruptions = fault.countInterruptions?.(target) ?? 0;
  const window = expectations.begin(fault, performance.now(), interruptions);
  report(`fault: ${fault.name}`);
  await attempt(fault, run, () => fault.cause(target));
  window.causeEndedAt = performance.now();
  await attempt(fault, run, async () => fault.repair?.(target));
  await waitForRecovery(window, fault, run);
  if (window.recoveredAt === null) return report(`fault: ${fault.name}, not recovered in time`);
  const seconds = (window.recoveredAt - window.causeEndedAt) / 1_000;
  report(`fault: ${fault.name}, recovered after ${seconds.toFixed(1)} s`);
}

/** A fault that fails must not end the run: the others are still worth knowing. */
async function attempt(
  { name }: Fault,
  { violations }: FaultRun,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    violations.add(`the fault "${name}" failed: ${messageOf(error)}`);
  }
}

async function waitForRecovery(window: FaultWindow, fault: Fault, run: FaultRun): Promise<void> {
  const causeEndedAt = window.causeEndedAt ?? performance.now();
  let readyAt: number | null = null;
  for (;;) {
    const now = performance.now();
    readyAt = (await run.target.service.isReady()) ? (readyAt ?? now) : null;
    const lastUnusualAt = Math.max(causeEndedAt, window.lastUnusualAt ?? 0);
    if (readyAt !== null && now - lastUnusualAt > QUIET_MS) {
      window.recoveredAt = Math.max(readyAt, lastUnusualAt);
      if (window.recoveredAt - causeEndedAt <= fault.recoveryMs) return;
    }
    if (now - causeEndedAt > fault.recoveryMs + QUIET_MS) break;
    await sleep(POLL_MS);
  }
  run.violations.add(
    `the service did not recover from the fault "${fault.name}" within ${fault.recoveryMs / 1_000} s`,
  );
}
