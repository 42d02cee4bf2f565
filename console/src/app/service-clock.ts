/** The time of the service: this computer's clock may be off. */

/** Below this, the difference is that of the header's whole seconds and of the time of the request. */
const TOLERANCE_MS = 5_000;

let aheadMs = 0;

/** Compares the clocks. @param date the header `Date` of an answer; null: none */
export function noteServiceTime(date: string | null, nowMs: number = Date.now()): void {
  const time = Date.parse(date ?? '');
  if (Number.isNaN(time)) return;
  const difference = time - nowMs;
  aheadMs = Math.abs(difference) < TOLERANCE_MS ? 0 : difference;
}

/** Returns the time of the service, in milliseconds since 1970. */
export function serviceNowMs(nowMs: number = Date.now()): number {
  return nowMs + aheadMs;
}
