/** Over less time, a counter that moves in steps would seem to stand still or to race. */
export const SHORTEST_MS = 250;

/** Turns a counter that is read again and again into what it grows by; never a spike when it was reset or wrapped. */
export class Rate {
  #value = Number.NaN;
  #atMs = Number.NaN;

  /**
   * @param value what the counter says now
   * @param atMs when that was, by a clock that only goes forward
   * @returns growth per second since the last call; null at the first one, when the counter fell, and when too little
   * time went by, which is then part of the next
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

/** A rate of several counters of one device, under their names. */
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

/** Keeps a figure short on the wire: three decimals. Null stays null. */
export function round<T extends number | null>(value: T): T | number {
  return value === null ? value : Math.round(value * 1000) / 1000;
}

/** A ratio from 0 to 1 with four decimals: clocks of two sources differ a little, so it is held between them. */
export function toRatio(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 10_000) / 10_000;
}

/** Part of a whole, null where there is no whole. */
export function shareOf(part: number, whole: number): number | null {
  return whole > 0 ? toRatio(part / whole) : null;
}

type AbsentKey<T> = { [K in keyof T]: null extends T[K] ? K : never }[keyof T];

/** The same fields; those that may be null are left out instead. */
type Present<T> = {
  [K in Exclude<keyof T, AbsentKey<T>>]: T[K];
} & { [K in AbsentKey<T>]?: Exclude<T[K], null> };

/** Leaves out the fields that are null: what a machine lacks is absent on the wire. */
export function present<T extends object>(fields: T): Present<T>;
export function present(fields: object): object {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== null) kept[name] = value;
  return kept;
}

/**
 * A sensor that is not connected tells of the absolute zero, 210 °C or 65261.85 °C, a graphics card that just fell asleep
 * of 511 °C; nothing real is outside of this.
 */
const COLDEST_CELSIUS = -60;
const HOTTEST_CELSIUS = 200;

/** From the thousandths of a degree in which the kernel tells temperatures; null when it cannot be true. */
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

/** Null for what is no percentage: drivers give 65535 and the like for what they do not know. */
export function toPercentRatio(percent: number | null): number | null {
  return percent === null || percent < 0 || percent > 100 ? null : toRatio(percent / 100);
}

/** Part of a highest value that is known. */
export function toShare(value: number | null, highest: number | null): number | null {
  return value === null || highest === null || highest <= 0 ? null : toRatio(value / highest);
}
