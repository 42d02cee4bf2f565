import type { Expectations } from './expectations/expectations.ts';
import type { Violations } from './expectations/violations.ts';
import type { Fault, FaultTarget } from './faults/fault.ts';
import { runFaults, selectFaults, type SkippedFault } from './faults/run-faults.ts';
import type { Ledger } from './ledger/ledger.ts';
import { HttpClient } from './load/http-client.ts';
import { Recorder } from './load/recorder.ts';
import { minuteAt, runLoad } from './load/run-load.ts';
import type { SoakOptions } from './options.ts';
import { countPlanned, type DayPlan } from './plan/day-plan.ts';
import { formatProgress } from './progress.ts';
import { Sampler, type Sample } from './sample/sampler.ts';
import type { Environment } from './service/environment.ts';

const MAX_CONNECTIONS = 128;
const PROGRESS_MS = 5_000;

/** The parts of a run that its phases share. */
export interface Run {
  readonly options: SoakOptions;
  readonly plan: DayPlan;
  readonly ledger: Ledger;
  readonly violations: Violations;
  readonly expectations: Expectations;
  readonly stop: AbortSignal;
  /** Prints a line. */
  readonly report: (line: string) => void;
}

/** The load of a day, as it was measured. Times are milliseconds of `performance.now()`. */
export interface Day {
  readonly recorder: Recorder;
  readonly samples: readonly Sample[];
  readonly startedAt: number;
  readonly endedAt: number;
  /** Requests of the plan, without those that follow from them. */
  readonly planned: number;
  /** Those that were not sent: too many others were unfinished until a minute after the day. */
  readonly unsent: number;
  /** Of a processor core, which the load took on average. */
  readonly loadShare: number;
  readonly faults: readonly Fault[];
  readonly skipped: readonly SkippedFault[];
}

/** Runs the load and the faults of a day, and measures both. */
export async function runDay(run: Run, environment: Environment): Promise<Day> {
  const durationMs = run.options.minutes * 60_000;
  const startedAt = performance.now();
  const processorBefore = process.cpuUsage();
  const recorder = new Recorder(startedAt, durationMs);
  const client = createClient(run, environment, recorder);
  const target = createTarget(run, environment, client);
  const { possible, skipped } = await selectFaults(run.options.faults, target);
  for (const { name, reason } of skipped) run.report(`skipped the fault "${name}": ${reason}`);

  const sampler = new Sampler({ ...environment, startedAt, durationMs });
  sampler.start();
  const { samples } = sampler;
  const showProgress = (): void => {
    const minute = minuteAt(startedAt, durationMs, performance.now());
    run.report(formatProgress(minute, recorder, samples.at(-1)));
  };
  const progress = setInterval(showProgress, PROGRESS_MS);
  const context = { ...environment, ...run, client, machines: run.options.machines };
  const times = { startedAt, durationMs, stop: run.stop };
  let hasFaults = true;
  const faulting = runFaults(possible, { ...run, ...times, target }).finally(() => {
    hasFaults = false;
  });
  try {
    const load = runLoad(context, run.plan, { ...times, hasFaults: () => hasFaults });
    const [unsent, late] = await Promise.all([load, faulting]);
    const endedAt = performance.now();
    return {
      recorder,
      samples,
      startedAt,
      endedAt,
      planned: countPlanned(run.plan),
      unsent,
      loadShare: measureShare(processorBefore, endedAt - startedAt),
      faults: possible,
      skipped: [...skipped, ...late],
    };
  } finally {
    clearInterval(progress);
    await sampler.stop();
  }
}

/** Returns the share of a core that this process took since a reading of its usage. */
function measureShare(before: NodeJS.CpuUsage, durationMs: number): number {
  const { system, user } = process.cpuUsage(before);
  return (system + user) / 1_000 / durationMs;
}

function createClient(
  { expectations }: Run,
  { port }: Environment,
  recorder: Recorder,
): HttpClient {
  return new HttpClient({
    host: '127.0.0.1',
    port,
    maxConnections: MAX_CONNECTIONS,
    onEnd: (ended) => {
      recorder.record(ended);
      expectations.judge(ended);
    },
  });
}

function createTarget({ options }: Run, environment: Environment, client: HttpClient): FaultTarget {
  const { faultSeconds, workers } = options;
  return { ...environment, client, workers, holdMs: faultSeconds * 1_000 };
}
