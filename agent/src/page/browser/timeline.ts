/** What is charted at one moment: figures by their keys. */
export type Figures = Readonly<Record<string, number>>;

/** One figure over time; null where there was none. */
export type Column = (number | null)[];

/** As many intervals are shown: five minutes at one snapshot per second, as long as the agent's history. */
const WINDOW_INTERVALS = 300;

/** More than this many intervals without a snapshot are a gap, which no line crosses. */
const GAP_INTERVALS = 2.5;

/** The figures of the last minutes, all over the same times. It never holds more than its window. */
export class Timeline {
  /** Unix time in seconds, as uPlot takes it. */
  readonly times: number[] = [];
  readonly #columns = new Map<string, Column>();
  #intervalSeconds = 1;

  setInterval(seconds: number): void {
    this.#intervalSeconds = seconds;
  }

  /** The newest moment in Unix seconds, 0 when there is none. */
  get newest(): number {
    return this.times.at(-1) ?? 0;
  }

  /** What the charts show, in Unix seconds. */
  get range(): [number, number] {
    return [this.newest - WINDOW_INTERVALS * this.#intervalSeconds, this.newest];
  }

  /** Adds a moment. What is later than it was told by a clock that was set back since, and is forgotten. */
  add(timeMs: number, figures: Figures): void {
    const time = timeMs / 1000;
    while (this.times.length > 0 && this.newest >= time) this.#dropNewest();
    const isAfterGap = time - this.newest > GAP_INTERVALS * this.#intervalSeconds;
    if (this.times.length > 0 && isAfterGap) this.#append(this.newest + 0.001, {});
    this.#append(time, figures);
    this.#dropOld();
  }

  column(key: string): Column {
    return this.#columns.get(key) ?? this.times.map(() => null);
  }

  #append(time: number, figures: Figures): void {
    for (const key of Object.keys(figures)) {
      if (!this.#columns.has(key))
        this.#columns.set(
          key,
          this.times.map(() => null),
        );
    }
    this.times.push(time);
    for (const [key, column] of this.#columns) column.push(figures[key] ?? null);
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
      // A device that has been gone for so long is forgotten.
      if (column.every((value) => value === null)) this.#columns.delete(key);
    }
  }
}
