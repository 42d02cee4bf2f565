import { OPERATIONS } from './load/operations.ts';
import type { Recorder } from './load/recorder.ts';
import type { SoakReport } from './report/report.ts';
import type { Sample } from './sample/sampler.ts';
import { describeUnsent, describeVerdict } from './verdict.ts';

/** Formats a time of the day from its minute: `09:30`. */
export function formatMinute(minute: number): string {
  const whole = Math.min(1_439, Math.floor(minute));
  return [Math.floor(whole / 60), whole % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

/** Formats the state of a run as a line. */
export function formatProgress(
  minute: number,
  recorder: Recorder,
  sample: Sample | undefined,
): string {
  const slice = recorder.lastSlice(performance.now());
  const slowest = Math.max(...OPERATIONS.map((operation) => slice.p99[operation] ?? 0));
  const facts = [
    `${slice.perSecond.toFixed(0).padStart(5)} requests/s`,
    `p99 up to ${slowest.toFixed(0).padStart(5)} ms`,
    `behind plan ${slice.behindSeconds.toFixed(1).padStart(4)} s`,
    `unusual ${slice.unusualPerSecond.toFixed(0).padStart(4)}/s`,
    `service ${formatMib(sample?.memoryMib)}`,
    `database ${formatMib(sample?.databaseMib)}`,
  ];
  return `${formatMinute(minute)}  ${facts.join('  ')}`;
}

const formatMib = (mib: number | null | undefined): string =>
  mib === null || mib === undefined ? 'unknown' : `${mib.toFixed(0)} MiB`;

interface Result extends Pick<SoakReport, 'broken' | 'checks' | 'day' | 'verdict'> {
  /** The report. */
  readonly file: string;
}

/** Formats the result of a run. */
export function describeResult({ broken, checks, day, file, verdict }: Result): string {
  const lines = checks.map(
    ({ compared, problems, promise }) =>
      `${problems.length === 0 ? '✔' : '✖'} ${promise} (${compared} compared)`,
  );
  const load = [
    `Behind plan: up to ${day.recorder.behindSeconds.toFixed(1)} s`,
    `Not sent: ${describeUnsent(day)}`,
  ];
  const end = [describeVerdict(verdict), ...broken.map((sentence) => `  ✖ ${sentence}`)];
  return ['', ...lines, '', ...load, '', ...end, `Report: ${file}`, ''].join('\n');
}
