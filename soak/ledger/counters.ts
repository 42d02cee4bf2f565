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

/** Whether each of many changes, which is requested until it is acknowledged, was made. A byte each. */
export class Facts {
  readonly #states: Uint8Array;

  constructor(size: number) {
    this.#states = new Uint8Array(size);
  }

  get size(): number {
    return this.#states.length;
  }

  /** An acknowledged change stays acknowledged. */
  record(index: number, acknowledgement: Acknowledgement): void {
    if (acknowledgement === 'acknowledged') this.#states[index] = 2;
    else if (acknowledgement === 'unanswered' && this.#states[index] === 0) this.#states[index] = 1;
  }

  isAcknowledged(index: number): boolean {
    return this.#states[index] === 2;
  }

  /** Whether the change may have been made. */
  isPossible(index: number): boolean {
    return this.#states[index] !== 0;
  }

  countAcknowledged(): number {
    return this.#states.reduce((sum, state) => sum + (state === 2 ? 1 : 0), 0);
  }

  countUnacknowledged(): number {
    return this.size - this.countAcknowledged();
  }

  countPossible(): number {
    return this.#states.reduce((sum, state) => sum + (state === 0 ? 0 : 1), 0);
  }
}
