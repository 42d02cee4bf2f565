import type { PublicError } from '#server/errors.ts';

/** The log that failed requests are written to. */
export interface FailureLog {
  error(fields: object, message: string): void;
}

/** An outage of the database fails thousands of requests a second for the same reason. */
const OUTAGE_INTERVAL_MS = 1_000;

/**
 * Creates a function that logs failed requests with their cause. While the database is unavailable, it logs one a second,
 * with the number of suppressed lines since the last one: a line for each request would fill the disk.
 * @param now milliseconds of a monotonic clock
 */
export function makeFailureReporter(
  log: FailureLog,
  now: () => number = () => performance.now(),
): (requestId: string, failure: PublicError) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return (requestId, failure) => {
    const entry = { event: 'request.failed', requestId, code: failure.code, err: failure.cause };
    if (failure.code !== 'database_unavailable') {
      log.error(entry, 'request failed');
    } else if (now() - loggedAt < OUTAGE_INTERVAL_MS) {
      suppressed += 1;
    } else {
      log.error({ ...entry, suppressed }, 'request failed');
      loggedAt = now();
      suppressed = 0;
    }
  };
}
