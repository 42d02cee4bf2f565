import { setTimeout as sleep } from 'node:timers/promises';

import type { Pool } from 'pg';

import { execute, queryRow } from '#server/db/statement.ts';

import { countOpenJobs, endClaims, endLeases, makeJobsDue } from './statements.ts';

const POLL_MS = 1_000;

/** Time for the mails of the day, of which the service sends dozens a second. */
const TIMEOUT_MS = 120_000;
const TIMEOUT_PER_PURCHASE_MS = 100;

/**
 * Waits until every job is done. What waits for a later attempt, for the lease of a killed process or for its claim is made due at
 * once: that would take minutes.
 * @returns the number of jobs that are still open
 */
export async function settleJobs(
  pool: Pool,
  purchases: number,
  stop: AbortSignal,
): Promise<number> {
  const deadline = performance.now() + TIMEOUT_MS + purchases * TIMEOUT_PER_PURCHASE_MS;
  for (;;) {
    for (const command of [endLeases, endClaims, makeJobsDue]) await execute(pool, command, []);
    const open = (await queryRow(pool, countOpenJobs, []))?.open ?? 0;
    if (open === 0 || stop.aborted || performance.now() > deadline) return open;
    await sleep(POLL_MS);
  }
}
