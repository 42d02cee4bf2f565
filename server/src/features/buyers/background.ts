import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { deleteInBatches } from '#server/db/delete-in-batches.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';
import { defineJobHandler, type JobHandler } from '#server/jobs/job-queue.ts';

import { deleteOldOwnerEmails } from '../key-emails/owner-email-queries.ts';
import { deleteExpiredCodes, forgetAddresses } from './queries/codes.ts';
import { deleteExpiredSessions } from './queries/sessions.ts';
import { CODE_COUNTED_MS } from './rules/code.ts';
import { sendCode, type CodeMailDependencies } from './send-code.ts';
import { sendMachineFreed, type FreedMailDependencies } from './send-machine-freed.ts';

/** Creates the handlers of the e-mails to buyers. */
export function createBuyerJobs(
  deps: CodeMailDependencies & FreedMailDependencies,
): readonly JobHandler[] {
  return [
    defineJobHandler('send_buyer_code', (job, signal) => sendCode(deps, job, signal)),
    defineJobHandler('send_machine_freed', (job, signal) => sendMachineFreed(deps, job, signal)),
  ];
}

const HOUR_MS = 3_600_000;

const BATCH_ROWS = 1_000;

/** Operators see for this long which e-mails were sent. */
const LOG_KEPT_MS = 30 * 24 * HOUR_MS;

/**
 * Deletes the addresses of codes, and ended sessions, an hour after they expired, the codes when they no longer count, and the
 * log of e-mails to owners.
 */
export function createBuyerCleanup({
  pool,
  clock,
}: {
  readonly pool: Pool;
  readonly clock: Clock;
}): BackgroundTask {
  return {
    name: 'buyer_code_cleanup',
    scope: 'singleton',
    intervalMs: HOUR_MS,
    event: 'buyers.cleanup',
    action: 'delete expired codes and logged e-mails of buyers',
    failureLevel: 'error',
    async run(signal) {
      const now = clock.now().getTime();
      const before = new Date(now - HOUR_MS);
      await deleteInBatches(signal, BATCH_ROWS, (limit) => forgetAddresses(pool, before, limit));
      const counted = new Date(now - CODE_COUNTED_MS);
      await deleteInBatches(signal, BATCH_ROWS, (limit) =>
        deleteExpiredCodes(pool, counted, limit),
      );
      await deleteInBatches(signal, BATCH_ROWS, (limit) =>
        deleteExpiredSessions(pool, before, limit),
      );
      const oldest = new Date(now - LOG_KEPT_MS);
      await deleteInBatches(signal, BATCH_ROWS, (limit) =>
        deleteOldOwnerEmails(pool, oldest, limit),
      );
    },
  };
}
