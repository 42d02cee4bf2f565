/** The time of the demo's past: each action runs at a time of its own, also beside others. */
import { AsyncLocalStorage } from 'node:async_hooks';

import type { Clock } from '#server/clock.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const times = new AsyncLocalStorage<number>();
const readSystemTime = Date.now.bind(Date);

/** Shows the time of the action that asks; outside of an action, that of this machine. */
export const pastClock: Clock = { now: () => new Date(times.getStore() ?? readSystemTime()) };

/** Runs work at a time of the past. */
export function runAt<Result>(timeMs: number, work: () => Promise<Result>): Promise<Result> {
  return times.run(timeMs, work);
}

/**
 * Lets `Date.now` follow the action: UUIDs of version 7 begin with it, and lists are sorted by them.
 * @returns the function that restores it
 */
export function dateUuidsByAction(): () => void {
  Date.now = () => times.getStore() ?? readSystemTime();
  return () => {
    Date.now = readSystemTime;
  };
}

/** The start of the UTC day of a time. */
export function startOfDay(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS) * DAY_MS;
}

/** Whether a time is on a Saturday or Sunday in UTC. */
export function isWeekend(timeMs: number): boolean {
  const day = new Date(timeMs).getUTCDay();
  return day === 0 || day === 6;
}
