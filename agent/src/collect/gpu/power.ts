import { join } from 'node:path';

import { readText } from '../../read/small-file.ts';

/** A card is paused after this time without work. */
const IDLE_MS = 60_000;

/** The same after a pause in which it did not fall asleep: its screen is on, or a program has it open. */
const LONG_IDLE_MS = 600_000;

/** Drivers put a card to sleep 1 to 10 seconds after the last access. */
const PAUSE_MS = 15_000;

/**
 * Decides when to stop reading a card so that it can fall asleep: every access keeps it awake. A card that could sleep and has no
 * work is paused for 15 seconds.
 */
export class SleepPause {
  #idleSinceMs = Number.NaN;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #idleLimitMs = IDLE_MS;

  isPaused(atMs: number): boolean {
    return atMs < this.#pausedUntilMs;
  }

  /** @param isIdle whether the card could sleep and has no work */
  update(isIdle: boolean, atMs: number): void {
    if (!isIdle) this.#idleSinceMs = Number.NaN;
    else if (Number.isNaN(this.#idleSinceMs)) this.#idleSinceMs = atMs;
    if (!(atMs - this.#idleSinceMs >= this.#idleLimitMs)) return;
    this.#pausedUntilMs = atMs + PAUSE_MS;
    this.#idleSinceMs = Number.NaN;
    this.#idleLimitMs = LONG_IDLE_MS;
  }

  /** Ends the pause of a card that has fallen asleep, so that it is read at once when it wakes up. */
  reset(): void {
    this.#pausedUntilMs = Number.NEGATIVE_INFINITY;
    this.#idleSinceMs = Number.NaN;
    this.#idleLimitMs = IDLE_MS;
  }
}

const ASLEEP: ReadonlySet<string | null> = new Set(['suspended', 'suspending', 'resuming']);

/** Whether a device sleeps (runtime power management). This read does not wake it, unlike most others. */
export function isAsleep(directory: string): boolean {
  return ASLEEP.has(readText(join(directory, 'power/runtime_status')));
}

/** Whether the kernel may put a device to sleep. */
export function canSleep(directory: string): boolean {
  return readText(join(directory, 'power/control')) === 'auto';
}
