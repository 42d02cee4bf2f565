/** The jitter of delays, as a fraction, so that work that failed together is not retried together. */
const JITTER = 0.1;

/** Returns a delay that is up to a tenth shorter or longer. @param random from 0 to 1 */
export function withJitter(delayMs: number, random: number): number {
  return delayMs * (1 - JITTER + 2 * JITTER * random);
}

/** The longest exponential delay is e^10 s: six hours. */
const MAX_EXPONENT = 10;

/**
 * Returns the delay after an attempt: 3 s after the first, then about 2.7 times the previous one, at most six hours.
 */
export function exponentialDelayMs(attempts: number, random: number): number {
  return withJitter(Math.exp(Math.min(attempts, MAX_EXPONENT)) * 1_000, random);
}

/** Returns the delay of a `Retry-After` (RFC 9110 §10.2.3) in milliseconds; null if it is missing or invalid. */
export function readRetryAfter(header: string | null, now: Date): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/u.test(text)) return Number(text) * 1_000;
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/u.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.max(0, time - now.getTime());
}
