import type { Check } from './audit/check.ts';
import { OPERATIONS } from './load/operations.ts';
import type { Recorder } from './load/recorder.ts';
import type { Sample } from './sample/sampler.ts';

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
    `unusual ${slice.unusualPerSecond.toFixed(0).padStart(4)}/s`,
    `service ${formatMib(sample?.memoryMib)}`,
    `database ${formatMib(sample?.databaseMib)}`,
  ];
  return `${formatMinute(minute)}  ${facts.join('  ')}`;
}

const formatMib = (mib: number | null | undefined): string =>
  mib === null || mib === undefined ? 'unknown' : `${mib.toFixed(0)} MiB`;

interface Result {
  readonly broken: readonly string[];
  readonly checks: readonly Check[];
  /** The report. */
  readonly file: string;
  readonly isStopped: boolean;
}

/** Formats the result of a run. */
export function describeResult({ broken, checks, file, isStopped }: Result): string {
  const lines = checks.map(
    ({ compared, problems, promise }) =>
      `${problems.length === 0 ? '✔' : '✖'} ${promise} (${compared} compared)`,
  );
  const end = isStopped
    ? ['Stopped before the end of the day; nothing was compared.']
    : broken.length === 0
      ? ['Every promise was kept.']
      : ['Broken promises:', ...broken.map((sentence) => `  ✖ ${sentence}`)];
  return ['', ...lines, '', ...end, `Report: ${file}`, ''].join('\n');
}
