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

/** Learns the service's present time from an answer. */
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

/** Learns from a genuine entitlement that the service's time is not before the one at which it was issued. */
export function learnEarliest(
  memory: ClockMemory,
  deviceMs: number,
  issuedMs: number,
): ClockMemory {
  const isBehind = deviceMs + memory.offsetMs < issuedMs - TOLERANCE_MS;
  return {
    offsetMs: isBehind ? issuedMs - deviceMs : memory.offsetMs,
    latestMs: Math.max(memory.latestMs, issuedMs),
  };
}
