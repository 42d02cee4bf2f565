/** What is known of the service's time, in milliseconds. */
export interface ClockMemory {
  /** The service's time less the device's; 0 if they differ by less than five minutes. */
  readonly offsetMs: number;
  /** The latest time of the service that was seen, since 1970; 0 before the first. */
  readonly latestMs: number;
}

/** The time of a client. */
export interface ClockReading {
  readonly nowMs: number;
  /** Whether the device's clock was set back: the program may ask its user, and nothing is locked. */
  readonly wentBack: boolean;
}

export const NEW_CLOCK: ClockMemory = { offsetMs: 0, latestMs: 0 };

/** Device and service differ by this much through delays and slow clocks. */
const TOLERANCE_MS = 5 * 60_000;
const WENT_BACK_MS = 60 * 60_000;

/** Returns the time: that of the device, corrected, and never before a time that the service has stated. */
export function readClock({ offsetMs, latestMs }: ClockMemory, deviceMs: number): ClockReading {
  const correctedMs = deviceMs + offsetMs;
  return {
    nowMs: Math.max(correctedMs, latestMs),
    wentBack: correctedMs < latestMs - WENT_BACK_MS,
  };
}

/** Learns the service's present time. */
export function learnTime(
  { latestMs }: ClockMemory,
  deviceMs: number,
  serviceMs: number,
): ClockMemory {
  const differenceMs = serviceMs - deviceMs;
  return {
    offsetMs: Math.abs(differenceMs) < TOLERANCE_MS ? 0 : differenceMs,
    latestMs: Math.max(latestMs, serviceMs),
  };
}

/** A token is an hour old at most when the service sends it again. */
const LATEST_AFTER_ISSUE_MS = 65 * 60_000;

/**
 * Returns the service's time of an answer with a genuine entitlement: its header `Date` if that fits the time at which the entitlement
 * was issued, else that one. No signature protects `Date`.
 */
export function serviceTime(dateMs: number | null, issuedMs: number): number {
  const fits = dateMs !== null && dateMs >= issuedMs && dateMs <= issuedMs + LATEST_AFTER_ISSUE_MS;
  return fits ? dateMs : issuedMs;
}
