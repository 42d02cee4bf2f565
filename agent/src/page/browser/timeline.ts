/** The charted values of one time, by key. */
export type MetricValues = Readonly<Record<string, number>>;

/** One figure over time; null when it is absent. */
export type Column = (number | null)[];

/** The number of shown intervals: five minutes at one snapshot per second, as the agent's history. */
const WINDOW_INTERVALS = 300;

/** A longer time without a snapshot is a gap in the lines. */
const GAP_INTERVALS = 2.5;

/** The values of the last minutes on one time axis, limited to the window. */
export class Timeline {
  /** Unix times in seconds, the format of uPlot. */
  readonly times: number[] = [];
  readonly #columns = new Map<string, Column>();
  #intervalSeconds = 1;

  setInterval(seconds: number): void {
    this.#intervalSeconds = seconds;
  }

  /** The newest time in Unix seconds; 0 without any. */
  get newest(): number {
    return this.times.at(-1) ?? 0;
  }

  /** The range of the charts in Unix seconds. */
  get range(): [number, number] {
    return [this.newest - WINDOW_INTERVALS * this.#intervalSeconds, this.newest];
  }

  /** Adds values. Later entries date from before the clock was set back, and are dropped. */
  add(timeMs: number, values: MetricValues): void {
    const time = timeMs / 1000;
    while (this.times.length > 0 && this.newest >= time) this.#dropNewest();
    const isAfterGap = time - this.newest > GAP_INTERVALS * this.#intervalSeconds;
    if (this.times.length > 0 && isAfterGap) this.#append(this.newest + 0.001, {});
    this.#append(time, values);
    this.#dropOld();
  }

  column(key: string): Column {
    return this.#columns.get(key) ?? this.times.map(() => null);
  }

  #append(time: number, values: MetricValues): void {
    for (const key of Object.keys(values)) {
      if (!this.#columns.has(key))
        this.#columns.set(
          key,
          this.times.map(() => null),
        );
    }
    this.times.push(time);
    for (const [key, column] of this.#columns) column.push(values[key] ?? null);
  }

  #dropNewest(): void {
    this.times.pop();
    for (const column of this.#columns.values()) column.pop();
  }

  #dropOld(): void {
    const [from] = this.range;
    const kept = this.times.findIndex((time) => time >= from);
    if (kept <= 0) return;
    this.times.splice(0, kept);
    for (const [key, column] of this.#columns) {
      column.splice(0, kept);
      // Drops the values of devices that have vanished.
      if (column.every((value) => value === null)) this.#columns.delete(key);
    }
  }
}
