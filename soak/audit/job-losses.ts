import type { FaultWindow } from '../expectations/expectations.ts';

/** Jobs that run at the same time, of several workers in one: so many e-mails can be on their way when it is killed. */
const CONCURRENT_JOBS = 2;

/** From the acceptance of an e-mail until it is stored as sent: a statement waits for a connection and for its answer. */
const STORING_MS = 5_000;

/** A time in which a fault lost the outcomes of jobs. Times are milliseconds of `performance.now()`. */
export interface JobLoss {
  readonly from: number;
  readonly until: number;
  /** The most outcomes that it lost. */
  readonly most: number;
}

/** Lists when faults lost outcomes of jobs. */
export function listJobLosses(windows: readonly FaultWindow[]): JobLoss[] {
  return windows
    .filter(({ interruptions }) => interruptions > 0)
    .map((window) => ({
      from: window.from - STORING_MS,
      until: endOf(window),
      most: window.interruptions * CONCURRENT_JOBS,
    }));
}

/** Returns when a fault could last interrupt anything. */
export function endOf({ causeEndedAt, fault, recoveredAt }: FaultWindow): number {
  if (causeEndedAt === null) return Number.POSITIVE_INFINITY;
  return recoveredAt ?? causeEndedAt + fault.recoveryMs;
}

/**
 * Counts the e-mails that were sent again although no fault explains it.
 * @param acceptedAt when the relay had accepted each of them before
 */
export function countUnexplained(
  acceptedAt: readonly number[],
  losses: readonly JobLoss[],
): number {
  const open = losses.map((loss) => ({ ...loss })).sort((a, b) => a.until - b.until);
  return acceptedAt
    .toSorted((a, b) => a - b)
    .filter((at) => {
      const loss = open.find(({ from, most, until }) => at >= from && at <= until && most > 0);
      if (loss !== undefined) loss.most -= 1;
      return loss === undefined;
    }).length;
}
