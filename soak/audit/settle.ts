import { setTimeout as sleep } from 'node:timers/promises';

import type { Pool } from 'pg';

import { execute, queryRow } from '#server/db/statement.ts';

import { countOpenJobs, endClaims, endDelays, endLeases, makeJobsDue } from './statements.ts';

const POLL_MS = 1_000;

/** Time for the mails of the day, of which the service sends dozens a second. */
const TIMEOUT_MS = 120_000;
const TIMEOUT_PER_PURCHASE_MS = 100;

/** A job that is older when the faults are over does not run any more, unless the relay is slower than any here. */
const LONGEST_JOB_MS = 15_000;

interface SettleOptions {
  readonly pool: Pool;
  readonly purchases: number;
  /** When the last fault was over; `performance.now()`. Null: there was none. */
  readonly faultsEndedAt: number | null;
  /** Whether a message is on its way, of which the job may be done already. */
  readonly isReceiving: () => boolean;
  readonly stop: AbortSignal;
}

/**
 * Waits until every job is done. What waits for a later attempt, for the lease of a killed process or for its claim is made due at
 * once: that would take minutes. Without a fault, no lease and no claim is ended: the service must have done that itself.
 * @returns the number of jobs that are still open
 */
export async function settleJobs(options: SettleOptions): Promise<number> {
  const { isReceiving, pool, purchases, stop } = options;
  const deadline = performance.now() + TIMEOUT_MS + purchases * TIMEOUT_PER_PURCHASE_MS;
  for (;;) {
    await endWaiting(options);
    const open = (await queryRow(pool, countOpenJobs, []))?.open ?? 0;
    const isDone = open === 0 && !isReceiving();
    if (isDone || stop.aborted || performance.now() > deadline) return open;
    await sleep(POLL_MS);
  }
}

async function endWaiting({ faultsEndedAt, pool }: SettleOptions): Promise<void> {
  await execute(pool, makeJobsDue, []);
  if (faultsEndedAt === null) return;
  const age = Math.max(LONGEST_JOB_MS, performance.now() - faultsEndedAt);
  await execute(pool, endLeases, [age]);
  for (const command of [endClaims, endDelays]) await execute(pool, command, []);
}
