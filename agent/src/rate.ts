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
