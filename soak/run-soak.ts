import { performance } from 'node:perf_hooks';

import { audit } from './audit/audit.ts';
import type { Check } from './audit/check.ts';
import { settleJobs } from './audit/settle.ts';
import { Expectations } from './expectations/expectations.ts';
import { Violations } from './expectations/violations.ts';
import type { Fault, FaultTarget } from './faults/fault.ts';
import { runFaults, selectFaults, type SkippedFault } from './faults/run-faults.ts';
import { createLedger, type Ledger } from './ledger/ledger.ts';
import { HttpClient } from './load/http-client.ts';
import { readMailNumber } from './load/actors/mails.ts';
import { Recorder } from './load/recorder.ts';
import { minuteAt, runLoad } from './load/run-load.ts';
import type { SoakOptions } from './options.ts';
import { planDay, type DayPlan } from './plan/day-plan.ts';
import { describeResult, formatProgress } from './progress.ts';
import { writeReport } from './report/write-report.ts';
import { Sampler } from './sample/sampler.ts';
import { openEnvironment, type Environment } from './service/environment.ts';

const MAX_CONNECTIONS = 128;
const PROGRESS_MS = 5_000;

/** Jobs that run at the same time, of several workers in one: so many e-mails can be on their way when it is killed. */
const CONCURRENT_JOBS = 2;

/** V8 limits the objects of a process to 256 MiB; buffers, code and threads take the rest. */
const MAX_MEMORY_MIB = 512;

/** The parts of a run that its phases share. */
interface Run {
  readonly options: SoakOptions;
  readonly plan: DayPlan;
  readonly ledger: Ledger;
  readonly violations: Violations;
  readonly expectations: Expectations;
  readonly stop: AbortSignal;
  readonly report: (line: string) => void;
}

/** The load of a day, as it was measured. */
export interface Day {
  readonly recorder: Recorder;
  readonly sampler: Sampler;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly faults: readonly Fault[];
  readonly skipped: readonly SkippedFault[];
}

/** Runs a soak, writes its report, and prints broken promises. Returns whether all were kept. */
export async function runSoak(options: SoakOptions, stop: AbortSignal): Promise<boolean> {
  const plan = planDay(options.machines, options.minutes);
  const violations = new Violations();
  const run: Run = {
    options,
    plan,
    ledger: createLedger(plan, options.machines),
    violations,
    expectations: new Expectations(violations),
    stop,
    report: createReporter(),
  };
  await using environment = await openEnvironment(options, {
    onMail: (address) => recordMail(run.ledger, address),
    onUnexpectedEnd: (end) => violations.add(`the service ended by itself: ${end}`),
    report: run.report,
  });
  const day = await runDay(run, environment);
  const checks = stop.aborted ? [] : await auditDay(run, environment, day);
  const end = await environment.service.stop();
  if (end !== 'exit code 0') violations.add(`the service stopped with ${String(end)}`);
  const broken = [...violations.list(), ...listProblems(checks)];
  const file = await writeReport(
    { options, day, checks, broken, windows: run.expectations.windows },
    environment.logFile,
  );
  process.stdout.write(describeResult({ broken, checks, file, isStopped: stop.aborted }));
  return broken.length === 0;
}

/** Returns a function that prints a line with the time since now. */
function createReporter(): (line: string) => void {
  const begunAt = performance.now();
  return (line) => {
    const seconds = Math.round((performance.now() - begunAt) / 1_000);
    process.stdout.write(`${String(seconds).padStart(5)} s  ${line}\n`);
  };
}

function recordMail({ keyMails, outreachMails }: Ledger, address: string): void {
  const { kind, number } = readMailNumber(address);
  if (kind === 'buyer') keyMails[number] = (keyMails[number] ?? 0) + 1;
  else if (kind === 'reader') outreachMails[number] = (outreachMails[number] ?? 0) + 1;
}

async function runDay(run: Run, environment: Environment): Promise<Day> {
  const { expectations, options, report, stop, violations } = run;
  const durationMs = options.minutes * 60_000;
  const startedAt = performance.now();
  const recorder = new Recorder(startedAt, durationMs);
  const client = new HttpClient({
    host: '127.0.0.1',
    port: environment.port,
    maxConnections: MAX_CONNECTIONS,
    onEnd: (ended) => {
      recorder.record(ended);
      expectations.judge(ended);
    },
  });
  const sampler = new Sampler({ ...environment, startedAt, durationMs });
  sampler.start();
  const target: FaultTarget = {
    ...environment,
    client,
    workers: options.workers,
    holdMs: options.faultSeconds * 1_000,
  };
  const { possible, skipped } = await selectFaults(options.faults, target);
  for (const { name, reason } of skipped) report(`skipped the fault "${name}": ${reason}`);
  const progress = setInterval(() => {
    const minute = minuteAt(startedAt, durationMs, performance.now());
    report(formatProgress(minute, recorder, sampler.samples.at(-1)));
  }, PROGRESS_MS);
  try {
    const context = {
      ...environment,
      client,
      ledger: run.ledger,
      violations,
      machines: options.machines,
    };
    const times = { startedAt, durationMs, stop };
    await Promise.all([
      runLoad(context, run.plan, times),
      runFaults(possible, { target, expectations, violations, report, ...times }),
    ]);
  } finally {
    clearInterval(progress);
    await sampler.stop();
  }
  return { recorder, sampler, startedAt, endedAt: performance.now(), faults: possible, skipped };
}

async function auditDay(run: Run, { masterSecret, pool }: Environment, day: Day): Promise<Check[]> {
  const { expectations, ledger, options, report, stop, violations } = run;
  report('waiting for mails and other jobs');
  const open = await settleJobs(pool, stop);
  if (open > 0) violations.add(`${open} jobs were not done in time`);
  report('comparing what was acknowledged with the database');
  const repeating = new Set(
    day.faults.filter(({ repeatsJobs = false }) => repeatsJobs).map(({ name }) => name),
  );
  const times = expectations.windows.filter(({ fault }) => repeating.has(fault.name)).length;
  const repeatedMails = times * CONCURRENT_JOBS;
  const checks = await audit({ pool, ledger, masterSecret, repeatedMails });
  return [...checks, checkMemory(day, options)];
}

function checkMemory({ sampler }: Day, { workers }: SoakOptions): Check {
  const limit = MAX_MEMORY_MIB * (1 + (workers ?? 0));
  const sizes = sampler.samples.flatMap(({ memoryMib }) => (memoryMib === null ? [] : [memoryMib]));
  const largest = Math.max(0, ...sizes);
  return {
    promise: `The service takes at most ${limit} MiB of memory`,
    compared: sizes.length,
    problems: largest <= limit ? [] : [`it took ${largest.toFixed(0)} MiB`],
  };
}

function listProblems(checks: readonly Check[]): string[] {
  return checks.flatMap(({ problems, promise }) =>
    problems.map((problem) => `${promise}: ${problem}`),
  );
}
