import { ArrivalAlignment } from './arrival-alignment.ts';
import { type Figure, FIGURES, type History, HISTORY_SLOTS } from './types.ts';

/**
 * Seconds after the newest slot: points arrive before the clock reaches the end of their second, and a browser may wake a page in the
 * background only once a minute.
 */
const AHEAD_SLOTS = 64;
const ROW_SLOTS = HISTORY_SLOTS + AHEAD_SLOTS;

/** More intervals without a point are a gap; fewer are covered by the next point, which measures from the last one. */
const GAP_INTERVALS = 2.5;

/** The clock of all machines. */
export interface CommonClock {
  /** The end of the newest slot in epoch seconds. */
  readonly end: number;
}

/** The history of a machine on the clock of all machines. Its arrays are allocated once. */
export class MachineHistory implements History {
  readonly columns: Readonly<Record<Figure, Float32Array>>;
  readonly #clock: CommonClock;
  #alignment = new ArrivalAlignment();
  readonly #buffer = new Float32Array(FIGURES.length * ROW_SLOTS).fill(Number.NaN);
  /** The newest written slot in epoch seconds. */
  #newest = Number.NEGATIVE_INFINITY;

  constructor(clock: CommonClock) {
    this.#clock = clock;
    const column = (figure: Figure): Float32Array => {
      const start = FIGURES.indexOf(figure) * ROW_SLOTS;
      return this.#buffer.subarray(start, start + HISTORY_SLOTS);
    };
    this.columns = {
      cpu_usage_ratio: column('cpu_usage_ratio'),
      load_1m: column('load_1m'),
      memory_usage_ratio: column('memory_usage_ratio'),
      disk_read_bytes_per_second: column('disk_read_bytes_per_second'),
      disk_write_bytes_per_second: column('disk_write_bytes_per_second'),
      receive_bytes_per_second: column('receive_bytes_per_second'),
      transmit_bytes_per_second: column('transmit_bytes_per_second'),
    };
  }

  get end(): number {
    return this.#clock.end;
  }

  /** Aligns by the newest point of a message with points. */
  align(agentMs: number, arrivedMs: number): void {
    const slots = this.#alignment.observe(agentMs, arrivedMs);
    if (slots > 0) this.#moveLater(slots);
    else if (slots < 0) this.#moveEarlier(-slots);
    this.#newest += slots;
  }

  /** Writes the figures of a point. @param figures unvalidated: what is no positive number is a gap */
  write(
    agentMs: number,
    figures: Readonly<Record<string, unknown>>,
    intervalSeconds: number,
  ): void {
    const slot = this.#alignment.slotOf(agentMs);
    const from = this.#firstCovered(slot, intervalSeconds);
    for (let row = 0; row < FIGURES.length; row += 1) {
      const value = readFigure(figures[FIGURES[row] ?? '']);
      for (let covered = from; covered <= slot; covered += 1) this.#set(row, covered, value);
    }
    this.#newest = Math.max(this.#newest, slot);
  }

  /**
   * Merges the history of a hello. What it lacks stays as it is, since an agent that restarted has lost what this page still has.
   * @param times of the agent, oldest first, NaN where invalid
   * @param columns by figure, unvalidated
   */
  merge(
    times: readonly number[],
    columns: Readonly<Record<string, unknown>>,
    {
      arrivedMs,
      intervalSeconds,
    }: { readonly arrivedMs: number; readonly intervalSeconds: number },
  ): void {
    const newestMs = times.findLast((each) => !Number.isNaN(each));
    if (newestMs === undefined) return;
    this.#alignment.observeHello(newestMs, arrivedMs, intervalSeconds);
    let before = Number.NEGATIVE_INFINITY;
    for (const [at, agentMs] of times.entries()) {
      if (Number.isNaN(agentMs)) continue;
      const slot = this.#alignment.slotOf(agentMs);
      this.#mergePoint(at, columns, firstCovered(before, slot, intervalSeconds), slot);
      before = slot;
    }
    this.#newest = Math.max(this.#newest, before);
  }

  /** Follows the clock, which has advanced by whole seconds. */
  advance(seconds: number): void {
    // Nothing is left to move.
    if (this.#newest < this.end - HISTORY_SLOTS - seconds) return;
    this.#moveEarlier(seconds);
  }

  /** Follows the clock after it was set back: what was the newest second stays the newest. @param seconds negative */
  relabel(seconds: number): void {
    this.#newest += seconds;
    this.#alignment.relabel(seconds);
  }

  /** Forgets everything: another machine has the address. */
  clear(): void {
    this.#buffer.fill(Number.NaN);
    this.#newest = Number.NEGATIVE_INFINITY;
    this.#alignment = new ArrivalAlignment();
  }

  #mergePoint(
    at: number,
    columns: Readonly<Record<string, unknown>>,
    from: number,
    slot: number,
  ): void {
    for (let row = 0; row < FIGURES.length; row += 1) {
      const column = columns[FIGURES[row] ?? ''];
      const value = Array.isArray(column) ? readFigure(column[at]) : Number.NaN;
      if (Number.isNaN(value)) continue;
      for (let covered = from; covered <= slot; covered += 1) this.#set(row, covered, value);
    }
  }

  #firstCovered(slot: number, intervalSeconds: number): number {
    return slot <= this.#newest ? slot : firstCovered(this.#newest, slot, intervalSeconds);
  }

  /** Sets a value; nothing outside of the window. */
  #set(row: number, slot: number, value: number): void {
    const at = slot - this.#clock.end + HISTORY_SLOTS - 1;
    if (at >= 0 && at < ROW_SLOTS) this.#buffer[row * ROW_SLOTS + at] = value;
  }

  #moveEarlier(slots: number): void {
    const moved = Math.min(slots, ROW_SLOTS);
    // Moves all rows at once; what crosses from one to another is cleared.
    this.#buffer.copyWithin(0, moved);
    for (let end = ROW_SLOTS; end <= this.#buffer.length; end += ROW_SLOTS) {
      this.#buffer.fill(Number.NaN, end - moved, end);
    }
  }

  #moveLater(slots: number): void {
    const moved = Math.min(slots, ROW_SLOTS);
    this.#buffer.copyWithin(moved, 0, this.#buffer.length - moved);
    for (let start = 0; start < this.#buffer.length; start += ROW_SLOTS) {
      this.#buffer.fill(Number.NaN, start, start + moved);
    }
  }
}

/** Returns the first slot that a point covers: after the point before, or its interval alone after a gap. */
function firstCovered(before: number, slot: number, intervalSeconds: number): number {
  const isAfterGap = slot - before > GAP_INTERVALS * intervalSeconds;
  const first = isAfterGap ? slot - intervalSeconds + 1 : before + 1;
  return Math.min(slot, first);
}

/** Returns a figure, all of which are positive; NaN for anything else. */
export function readFigure(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY
    ? value
    : Number.NaN;
}
