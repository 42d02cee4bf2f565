import type { Acknowledgement } from './acknowledgement.ts';

/** How often a change of each of many things was acknowledged, and how often it may have been made. 4 bytes each. */
export class Counters {
  readonly acknowledged: Uint16Array;
  readonly unanswered: Uint16Array;

  constructor(size: number) {
    this.acknowledged = new Uint16Array(size);
    this.unanswered = new Uint16Array(size);
  }

  get size(): number {
    return this.acknowledged.length;
  }

  record(index: number, acknowledgement: Acknowledgement): void {
    if (acknowledgement === 'refused') return;
    const counts = acknowledgement === 'acknowledged' ? this.acknowledged : this.unanswered;
    counts[index] = (counts[index] ?? 0) + 1;
  }
}

/** From the least to the most that is known of a change. */
const NOT_SENT = 0;
const REFUSED = 1;
const UNANSWERED = 2;
const ACKNOWLEDGED = 3;

const STATES = { refused: REFUSED, unanswered: UNANSWERED, acknowledged: ACKNOWLEDGED } as const;

/** Whether each of many changes, which is requested until it is acknowledged, was made. A byte each. */
export class Facts {
  readonly #states: Uint8Array;

  constructor(size: number) {
    this.#states = new Uint8Array(size);
  }

  get size(): number {
    return this.#states.length;
  }

  /** Only the most counts: an acknowledged change stays acknowledged. */
  record(index: number, acknowledgement: Acknowledgement): void {
    this.#states[index] = Math.max(this.#stateOf(index), STATES[acknowledgement]);
  }

  /** Whether the change was requested. */
  isSent(index: number): boolean {
    return this.#stateOf(index) !== NOT_SENT;
  }

  isAcknowledged(index: number): boolean {
    return this.#stateOf(index) === ACKNOWLEDGED;
  }

  /** Whether the change may have been made. */
  isPossible(index: number): boolean {
    return this.#stateOf(index) >= UNANSWERED;
  }

  countAcknowledged(): number {
    return this.#count(ACKNOWLEDGED);
  }

  /** Counts the changes that were requested, but never acknowledged. */
  countUnacknowledged(): number {
    return this.#count(REFUSED) - this.#count(ACKNOWLEDGED);
  }

  countPossible(): number {
    return this.#count(UNANSWERED);
  }

  #stateOf(index: number): number {
    return this.#states[index] ?? NOT_SENT;
  }

  /** Counts those of which at least this much is known. */
  #count(least: number): number {
    return this.#states.reduce((sum, state) => sum + (state >= least ? 1 : 0), 0);
  }
}
