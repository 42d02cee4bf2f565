import type { PublicError } from '#server/errors.ts';

/** Where failures are told to those who run the service. */
export interface FailureLog {
  error(fields: object, message: string): void;
}

/** An outage fails thousands of requests in a second, all for the same reason. */
const OUTAGE_INTERVAL_MS = 1_000;

/**
 * Makes a function that logs requests that failed inside, with the cause. While the database cannot be reached, it logs
 * one a second, with the number of those left out since the last: a line for each would fill the disk.
 * @param now milliseconds of a clock that is never set back
 */
export function makeFailureReporter(
  log: FailureLog,
  now: () => number = () => performance.now(),
): (requestId: string, failure: PublicError) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (requestId, failure) => {
    const entry = { requestId, code: failure.code, err: failure.cause };
    if (failure.code !== 'database_unavailable') {
      log.error(entry, 'request failed');
    } else if (now() - toldAt < OUTAGE_INTERVAL_MS) {
      untold += 1;
    } else {
      log.error({ ...entry, untold }, 'request failed');
      toldAt = now();
      untold = 0;
    }
  };
}
