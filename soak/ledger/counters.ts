import type { Fate } from './fate.ts';

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

  record(index: number, fate: Fate): void {
    if (fate === 'refused') return;
    const counts = fate === 'acknowledged' ? this.acknowledged : this.unanswered;
    counts[index] = (counts[index] ?? 0) + 1;
  }
}

/** Whether each of many changes, which is requested until it is acknowledged, was made. A byte each. */
export class Facts {
  readonly #fates: Uint8Array;

  constructor(size: number) {
    this.#fates = new Uint8Array(size);
  }

  get size(): number {
    return this.#fates.length;
  }

  /** An acknowledged change stays acknowledged. */
  record(index: number, fate: Fate): void {
    if (fate === 'acknowledged') this.#fates[index] = 2;
    else if (fate === 'unanswered' && this.#fates[index] === 0) this.#fates[index] = 1;
  }

  isAcknowledged(index: number): boolean {
    return this.#fates[index] === 2;
  }

  /** Whether the change may have been made. */
  isPossible(index: number): boolean {
    return this.#fates[index] !== 0;
  }

  countAcknowledged(): number {
    return this.#fates.reduce((sum, fate) => sum + (fate === 2 ? 1 : 0), 0);
  }

  countPossible(): number {
    return this.#fates.reduce((sum, fate) => sum + (fate === 0 ? 0 : 1), 0);
  }
}
