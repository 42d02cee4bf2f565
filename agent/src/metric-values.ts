/** The shortest time for a rate: over less, counters that advance in steps produce noise. */
export const SHORTEST_MS = 250;

/** Computes the rate of a counter from successive readings, without a spike when it is reset or wraps. */
export class Rate {
  #value = Number.NaN;
  #atMs = Number.NaN;

  /**
   * @param value the counter now
   * @param atMs the monotonic time of the reading
   * @returns growth per second since the last call; null at first, when the counter fell, and when too little time passed,
   * which the next rate includes
   */
  next(value: number, atMs: number): number | null {
    const growth = value - this.#value;
    const elapsedMs = atMs - this.#atMs;
    if (elapsedMs < SHORTEST_MS) return null;
    this.#value = value;
    this.#atMs = atMs;
    return growth >= 0 ? (growth / elapsedMs) * 1000 : null;
  }
}

/** The rates of several counters of one device, by name. */
export class Rates<Name extends string> {
  readonly #rates = new Map<Name, Rate>();

  /** As `Rate.next`, for one of the counters. */
  next(name: Name, value: number, atMs: number): number | null {
    let rate = this.#rates.get(name);
    if (rate === undefined) {
      rate = new Rate();
      this.#rates.set(name, rate);
    }
    return rate.next(value, atMs);
  }
}

/** Rounds to three decimals. Null stays null. */
export function round<T extends number | null>(value: T): T | number {
  return value === null ? value : Math.round(value * 1000) / 1000;
}

/** Rounds a ratio to four decimals and clamps it to 0 to 1, since the clocks of two sources differ a little. */
export function toRatio(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 10_000) / 10_000;
}

/** Divides a part by its whole; null when the whole is 0. */
export function shareOf(part: number, whole: number): number | null {
  return whole > 0 ? toRatio(part / whole) : null;
}

type AbsentKey<T> = { [K in keyof T]: null extends T[K] ? K : never }[keyof T];

/** The same fields, with optional fields instead of nullable ones. */
type Present<T> = {
  [K in Exclude<keyof T, AbsentKey<T>>]: T[K];
} & { [K in AbsentKey<T>]?: Exclude<T[K], null> };

/** Drops the fields that are null: what a machine lacks is absent in a snapshot. */
export function present<T extends object>(fields: T): Present<T>;
export function present(fields: object): object {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== null) kept[name] = value;
  return kept;
}

/** Returns the items that are present; null without any, so that a snapshot has no empty lists. */
export function listPresent<T>(items: readonly (T | null)[]): T[] | null {
  const shown = items.filter((item) => item !== null);
  return shown.length === 0 ? null : shown;
}

/**
 * Plausible temperatures. Unconnected sensors report absolute zero, 210 °C or 65261.85 °C, a graphics card that has just fallen
 * asleep 511 °C.
 */
const COLDEST_CELSIUS = -60;
const HOTTEST_CELSIUS = 200;

/** Converts millidegrees; null when the temperature is implausible. */
export function toCelsius(thousandths: number | null): number | null {
  if (thousandths === null) return null;
  const celsius = thousandths / 1000;
  return celsius > COLDEST_CELSIUS && celsius < HOTTEST_CELSIUS ? celsius : null;
}

const BYTES_PER_MEBIBYTE = 1_048_576;
const HERTZ_PER_MEGAHERTZ = 1_000_000;

export function toBytes(mebibytes: number | null): number | null {
  return mebibytes === null ? null : mebibytes * BYTES_PER_MEBIBYTE;
}

export function toHertz(megahertz: number | null): number | null {
  return megahertz === null ? null : megahertz * HERTZ_PER_MEGAHERTZ;
}

/** Converts a percentage; null outside 0 to 100, since drivers report 65535 and the like for unknown values. */
export function toPercentRatio(percent: number | null): number | null {
  return percent === null || percent < 0 || percent > 100 ? null : toRatio(percent / 100);
}

/** Divides a value by its maximum; null when either is unknown. */
export function toShare(value: number | null, highest: number | null): number | null {
  return value === null || highest === null || highest <= 0 ? null : toRatio(value / highest);
}
