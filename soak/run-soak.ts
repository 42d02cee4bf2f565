import { audit } from './audit/audit.ts';
import type { Check } from './audit/check.ts';
import { endOf, listJobLosses } from './audit/job-losses.ts';
import { settleJobs } from './audit/settle.ts';
import { Expectations } from './expectations/expectations.ts';
import { Violations } from './expectations/violations.ts';
import { createLedger, type Ledger } from './ledger/ledger.ts';
import { recordMail } from './ledger/record-mail.ts';
import type { SoakOptions } from './options.ts';
import { planDay } from './plan/day-plan.ts';
import { describeResult } from './progress.ts';
import { writeReport } from './report/write-report.ts';
import { runDay, type Day, type Run } from './run-day.ts';
import { openEnvironment, type Environment } from './service/environment.ts';

/** V8 limits the objects of a process to 256 MiB; buffers, code and threads take the rest. */
const MAX_MEMORY_MIB = 512;

/** Runs a soak, writes its report, and prints broken promises. Returns whether all were kept. */
export async function runSoak(options: SoakOptions, stop: AbortSignal): Promise<boolean> {
  const run = createRun(options, stop);
  const { expectations, violations } = run;
  await using environment = await openEnvironment(options, {
    onMail: (mail) => recordMail(run.ledger, mail),
    onUnexpectedEnd: (end) => violations.add(`the service ended by itself: ${end}`),
    report: run.report,
  });
  const day = await runDay(run, environment);
  if (day.unsent > 0 && !stop.aborted) {
    violations.add(
      `${day.unsent} planned requests were not sent: the service was too slow for the day`,
    );
  }
  const checks = stop.aborted ? [] : await auditDay(run, environment, day);
  const mails = countMails(run.ledger);
  const end = await environment.service.stop();
  const late = countMails(run.ledger) - mails;
  if (checks.length > 0 && late > 0)
    violations.add(`${late} mails arrived after all jobs were done`);
  if (end !== 'exit code 0') violations.add(`the service stopped with ${String(end)}`);
  const broken = [...violations.list(), ...listProblems(checks)];
  const { windows } = expectations;
  const file = await writeReport({ options, day, checks, broken, windows }, environment.logFile);
  process.stdout.write(describeResult({ broken, checks, file, isStopped: stop.aborted }));
  return broken.length === 0;
}

function createRun(options: SoakOptions, stop: AbortSignal): Run {
  const plan = planDay(options.machines, options.minutes);
  const violations = new Violations();
  return {
    options,
    plan,
    ledger: createLedger(plan, options.machines),
    violations,
    expectations: new Expectations(violations),
    stop,
    report: createReporter(),
  };
}

const countMails = ({ keyMails, outreachMails }: Ledger): number =>
  keyMails.total + outreachMails.reduce((all, each) => all + each, 0);

/** Returns a function that prints a line with the time since now. */
function createReporter(): (line: string) => void {
  const begunAt = performance.now();
  return (line) => {
    const seconds = Math.round((performance.now() - begunAt) / 1_000);
    process.stdout.write(`${String(seconds).padStart(5)} s  ${line}\n`);
  };
}

async function auditDay(run: Run, environment: Environment, day: Day): Promise<Check[]> {
  const { masterSecret, pool, relay } = environment;
  const { expectations, ledger, options, plan, report, stop, violations } = run;
  report('waiting for mails and other jobs');
  const { windows } = expectations;
  const faultsEndedAt = windows.length === 0 ? null : Math.max(...windows.map(endOf));
  const isReceiving = (): boolean => relay.isReceiving;
  const purchases = plan.purchase.total;
  const open = await settleJobs({ pool, purchases, faultsEndedAt, isReceiving, stop });
  if (open > 0) violations.add(`${open} jobs were not done in time`);
  report('comparing what was acknowledged with the database');
  const checks = await audit({ pool, ledger, masterSecret, jobLosses: listJobLosses(windows) });
  return [...checks, checkMemory(day, options)];
}

function checkMemory({ samples }: Day, { workers }: SoakOptions): Check {
  const limit = MAX_MEMORY_MIB * (1 + (workers ?? 0));
  const sizes = samples.flatMap(({ memoryMib }) => (memoryMib === null ? [] : [memoryMib]));
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
