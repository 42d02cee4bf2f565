/** The two clocks: one for people, and one that only goes forward, for differences. */
export interface Clock {
  readonly now: () => Date;
  readonly monotonicMs: () => number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};
