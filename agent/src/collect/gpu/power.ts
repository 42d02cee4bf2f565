import { join } from 'node:path';

import { readText } from '../../read/small-file.ts';

/** A card that has done nothing for so long may sleep. */
const IDLE_MS = 60_000;

/** After a rest in which it did not fall asleep: its screen is on, or something holds it. */
const LONG_IDLE_MS = 600_000;

/** Drivers let a card fall asleep 1 to 10 seconds after it was last asked. */
const REST_MS = 15_000;

/**
 * Every question keeps a card awake, so one that could sleep and has nothing to do is not asked for a while, to see
 * whether it falls asleep.
 */
export class Rest {
  #idleSinceMs = Number.NaN;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #patienceMs = IDLE_MS;

  /** Whether the card is to be left alone now. */
  isResting(atMs: number): boolean {
    return atMs < this.#restUntilMs;
  }

  /** @param mayRest whether the card could sleep and has nothing to do */
  note(mayRest: boolean, atMs: number): void {
    if (!mayRest) this.#idleSinceMs = Number.NaN;
    else if (Number.isNaN(this.#idleSinceMs)) this.#idleSinceMs = atMs;
    if (!(atMs - this.#idleSinceMs >= this.#patienceMs)) return;
    this.#restUntilMs = atMs + REST_MS;
    this.#idleSinceMs = Number.NaN;
    this.#patienceMs = LONG_IDLE_MS;
  }

  /** The card fell asleep: when it wakes up it is asked again at once. */
  noteSleep(): void {
    this.#restUntilMs = Number.NEGATIVE_INFINITY;
    this.#idleSinceMs = Number.NaN;
    this.#patienceMs = IDLE_MS;
  }
}

const ASLEEP: ReadonlySet<string | null> = new Set(['suspended', 'suspending', 'resuming']);

/** Whether a device sleeps (runtime power management); reading this does not wake it, reading nearly all else would. */
export function isAsleep(directory: string): boolean {
  return ASLEEP.has(readText(join(directory, 'power/runtime_status')));
}

/** Whether the kernel may put it to sleep. */
export function canSleep(directory: string): boolean {
  return readText(join(directory, 'power/control')) === 'auto';
}
