const DAY_MS = 86_400_000;

/** Returns `once`, `twice` or `3 times`. */
export function timesOf(count: number): string {
  if (count === 1) return 'once';
  return count === 2 ? 'twice' : `${count} times`;
}

/** Returns the date in UTC for a sentence: `on 2026-11-20`, or `today` within the same day. */
export function formatDay(time: Date, now: Date): string {
  const day = toDay(time);
  if (day === toDay(now)) return 'today';
  if (day === toDay(new Date(now.getTime() - DAY_MS))) return 'yesterday';
  return `on ${day}`;
}

function toDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** Returns the whole days between two times. */
export function daysBetween(from: Date, to: Date): number {
  return Math.max(0, Math.floor((to.getTime() - from.getTime()) / DAY_MS));
}
