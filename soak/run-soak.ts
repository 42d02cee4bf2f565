import { audit } from './audit/audit.ts';
import type { Check } from './audit/check.ts';
import { checkMemory, checkWebhooks } from './audit/day-checks.ts';
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
import { decideVerdict, type Verdict } from './verdict.ts';

/** Runs a soak, writes its report, and prints the result. */
export async function runSoak(options: SoakOptions, stop: AbortSignal): Promise<Verdict> {
  const run = createRun(options, stop);
  const { expectations, violations } = run;
  await using environment = await openEnvironment(options, {
    onMail: (mail) => recordMail(run.ledger, mail),
    onUnexpectedEnd: (end) => violations.add(`the service ended by itself: ${end}`),
    report: run.report,
  });
  const day = await runDay(run, environment);
  const checks = stop.aborted ? [] : await auditDay(run, environment, day);
  const mails = countMails(run.ledger);
  const end = await environment.service.stop();
  const late = countMails(run.ledger) - mails;
  if (checks.length > 0 && late > 0)
    violations.add(`${late} mails arrived after all jobs were done`);
  if (end !== 'exit code 0') violations.add(`the service stopped with ${String(end)}`);
  const broken = [...violations.list(), ...listProblems(checks)];
  const { windows } = expectations;
  const verdict = decideVerdict({ broken, day, isStopped: stop.aborted });
  const report = { options, day, checks, broken, verdict, windows };
  const file = await writeReport(report, environment.logFile);
  process.stdout.write(describeResult({ ...report, file }));
  return verdict;
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
  const processes = 1 + (options.workers ?? 0);
  return [
    ...checks,
    checkWebhooks(day.recorder, expectations.refusedWebhooks),
    checkMemory(day.samples, processes),
  ];
}

function listProblems(checks: readonly Check[]): string[] {
  return checks.flatMap(({ problems, promise }) =>
    problems.map((problem) => `${promise}: ${problem}`),
  );
}
