/** Scales of axes: from values to positions, 0 at the lower end and 1 at the upper one. Pure. */

export interface Scale {
  readonly ticks: readonly number[];
  /** Values beyond the ends are moved to them. */
  readonly place: (value: number) => number;
}

/** Steps that are easy to read, by the first digit. */
const STEPS = [1, 2, 5, 10] as const;

/** Creates a linear scale from zero to at least the largest value, with two to six ticks. */
export function createLinearScale(largest: number): Scale {
  const upper = largest > 0 ? largest : 1;
  const magnitude = 10 ** Math.floor(Math.log10(upper / 4));
  const step = magnitude * (STEPS.find((each) => each * magnitude * 4 >= upper) ?? 10);
  const count = Math.ceil(upper / step);
  const ticks = Array.from({ length: count + 1 }, (_, index) => index * step);
  return { ticks, place: (value) => clamp(value / (count * step)) };
}

/** Creates a logarithmic scale with a tick at each power of ten. Values must be positive. */
export function createLogScale(smallest: number, largest: number): Scale {
  const from = Math.floor(Math.log10(smallest));
  const to = Math.max(from + 1, Math.ceil(Math.log10(largest)));
  const ticks = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  return { ticks, place: (value) => clamp((Math.log10(value) - from) / (to - from)) };
}

function clamp(position: number): number {
  return Math.min(1, Math.max(0, position));
}
