import type { Quantity } from './quantities.ts';

/** The one scale of all curves. */
export interface FigureScale {
  /** In words: `0 to 100 %`. */
  readonly range: string;
  /** Maps a value to its height, 0 to 1. */
  readonly toRatio: (value: number) => number;
}

/** Rates below are drawn on the baseline: a machine that idles sends some packets. */
const LEAST_RATE = 1000;
const LEAST_TOP_RATE = 1_000_000;

/** Chooses the scale of a quantity. @param largest value of all machines; NaN without any */
export function chooseScale({ scale, format }: Quantity, largest: number): FigureScale {
  const known = Number.isNaN(largest) ? 0 : largest;
  if (scale === 'rate') return makeRateScale(known, format);
  const top = scale === 'ratio' ? 1 : roundUp(Math.max(1, known));
  return { range: `0 to ${trimZeros(format(top))}`, toRatio: (value) => clampRatio(value / top) };
}

function makeRateScale(largest: number, format: Quantity['format']): FigureScale {
  const top = 10 ** Math.ceil(Math.log10(Math.max(LEAST_TOP_RATE, largest)));
  const decades = Math.log10(top / LEAST_RATE);
  return {
    range: `${trimZeros(format(LEAST_RATE))} to ${trimZeros(format(top))}, logarithmic`,
    toRatio: (value) =>
      value <= LEAST_RATE ? 0 : clampRatio(Math.log10(value / LEAST_RATE) / decades),
  };
}

/** Writes `1.00 GB/s` as `1 GB/s`. */
function trimZeros(text: string): string {
  return text.replace(/\.0+(?!\d)/u, '');
}

function clampRatio(ratio: number): number {
  return Math.min(1, Math.max(0, ratio));
}

/** Rounds up to 1, 2 or 5 times a power of ten, so that the scale changes rarely. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5].find((each) => each * power >= value) ?? 10;
  return factor * power;
}
