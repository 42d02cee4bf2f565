import { toRatio } from '../rate.ts';

/** How long tasks waited: ratios of the last 10, 60 and 300 seconds, and the sum. */
export interface PressureLine {
  readonly average10s: number;
  readonly average60s: number;
  readonly average300s: number;
  readonly totalSeconds: number;
}

const MICROSECONDS = 1_000_000;

const VALUES = 'avg10=([\\d.]+) avg60=([\\d.]+) avg300=([\\d.]+) total=(\\d+)';
const SOME = new RegExp(`^some ${VALUES}`, 'm');
const FULL = new RegExp(`^full ${VALUES}`, 'm');

/** Reads a file of /proc/pressure (kernel documentation, accounting/psi): percentages, and microseconds. */
export function parsePressure(text: string): {
  readonly some: PressureLine | null;
  readonly full: PressureLine | null;
} {
  return { some: readLine(SOME.exec(text)), full: readLine(FULL.exec(text)) };
}

function readLine(match: RegExpExecArray | null): PressureLine | null {
  if (match === null) return null;
  const [, ten = 0, sixty = 0, threeHundred = 0, total = 0] = match.map(Number);
  return {
    average10s: toRatio(ten / 100),
    average60s: toRatio(sixty / 100),
    average300s: toRatio(threeHundred / 100),
    totalSeconds: total / MICROSECONDS,
  };
}
