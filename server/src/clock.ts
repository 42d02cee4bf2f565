/** Where the time comes from. Passed in everywhere, so that a test can stand at any moment. */
export interface Clock {
  /** The present moment. */
  now(): Date;
}

/** The machine's own clock. */
export const systemClock: Clock = { now: () => new Date() };
