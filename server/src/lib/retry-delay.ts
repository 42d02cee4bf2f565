/** Failed work is retried this part earlier or later, so that what failed together is not retried together. */
const JITTER = 0.1;

/** Returns a delay that is up to a tenth shorter or longer. @param random from 0 to 1 */
export function withJitter(delayMs: number, random: number): number {
  return delayMs * (1 - JITTER + 2 * JITTER * random);
}

/** The longest exponential delay is e^10 s: six hours. */
const MAX_EXPONENT = 10;

/** Returns the delay after an attempt: 3 s after the first, then about 2.7 times the previous one, at most six hours. */
export function exponentialDelayMs(attempts: number, random: number): number {
  return withJitter(Math.exp(Math.min(attempts, MAX_EXPONENT)) * 1_000, random);
}
