/** E-mails with keys that are queued again: held ones after the start, others by an operator. */
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { inTransaction } from '#server/db/transaction.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { BillingDependencies } from '../billing/dependencies.ts';
import { queueCustomerLookUps, queueKeyEmails } from '../billing/queue-jobs.ts';
import { releaseKeyEmails, resetKeyEmail, resetRefusedKeyEmails } from './backlog-queries.ts';
import { listCustomersWithoutAddress } from './buyer-queries.ts';
import { CLAIM_TIMEOUT_MS } from './send-key-email.ts';

type ReleaseDependencies = Pick<BillingDependencies, 'log' | 'mail' | 'paddleApi' | 'pool'>;

/**
 * After the start, queues the e-mails that waited for a setting that is present now; those that it does not reach wait
 * for the next start.
 */
export function createReleaseTask(deps: ReleaseDependencies): BackgroundTask {
  return {
    name: 'release_held_emails',
    scope: 'process',
    isForLeader: true,
    firstRunMs: 0,
    intervalMs: Infinity,
    timeoutMs: 60 * 60_000,
    event: 'mail.release',
    action: 'queue e-mails that waited for mail or an address',
    run: (signal) => releaseHeldEmails(deps, signal),
  };
}

async function releaseHeldEmails(deps: ReleaseDependencies, signal: AbortSignal): Promise<void> {
  const { log } = deps;
  const emails = await releaseEmailsWithoutMail(deps, signal);
  if (emails > 0) {
    const fields = { event: 'mail.held_emails_released', queued: emails };
    log.info(fields, 'queued e-mails held without mail relay');
  }
  const lookUps = await queueLookUpsWithoutAddress(deps, signal);
  if (lookUps > 0) {
    const fields = { event: 'payments.look_ups_queued', queued: lookUps };
    log.info(fields, 'queued look-ups of buyers without an address');
  }
}

const PAGE_SIZE = 1_000;

/** Queues the e-mails that waited for a mail relay, if there is one, and returns their number. */
export async function releaseEmailsWithoutMail(
  { pool, mail }: Pick<ReleaseDependencies, 'mail' | 'pool'>,
  stopping?: AbortSignal,
): Promise<number> {
  if (mail === null) return 0;
  let queued = 0;
  for (let count = PAGE_SIZE; count === PAGE_SIZE && !isAborted(stopping); queued += count) {
    count = await inTransaction(pool, async (client) => {
      const released = await releaseKeyEmails(client, 'no_mail', PAGE_SIZE);
      await queueKeyEmails(client, released);
      return released.length;
    });
  }
  return queued;
}

/**
 * Queues look-ups of the buyers whose e-mails wait for an address, if there is an API key, and returns their number.
 * Buyers that were not found before are looked up again, because the key may have been one of the sandbox.
 */
export async function queueLookUpsWithoutAddress(
  { pool, paddleApi }: Pick<ReleaseDependencies, 'paddleApi' | 'pool'>,
  stopping?: AbortSignal,
): Promise<number> {
  if (paddleApi === null) return 0;
  let queued = 0;
  let last: string | undefined = '';
  while (last !== undefined && !isAborted(stopping)) {
    const customers = await listCustomersWithoutAddress(pool, 'paddle', last, PAGE_SIZE);
    await queueCustomerLookUps(pool, customers);
    queued += customers.length;
    last = customers.at(-1)?.customerId;
  }
  return queued;
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** Selection, actor and reason of a manual resend. */
export interface ResendRequest {
  /** The e-mail of a transaction in any state; all refused e-mails; or all unconfirmed ones. */
  readonly which: { readonly transactionId: string } | 'refused' | 'unconfirmed';
  readonly actor: string;
  readonly reason: string | null;
}

const MAX_RESENT = 10_000;

/**
 * Resets and queues e-mails with keys, and writes an audit entry.
 * @returns their number; 0 if the transaction has no licenses or its e-mail is being sent
 */
export async function resendKeyEmails(
  { pool, clock }: { readonly pool: Pool; readonly clock: Clock },
  { which, actor, reason }: ResendRequest,
): Promise<number> {
  const now = clock.now();
  const abandonedBefore = new Date(now.getTime() - CLAIM_TIMEOUT_MS);
  return inTransaction(pool, async (client) => {
    const reset =
      typeof which === 'string'
        ? await resetRefusedKeyEmails(client, which, now, MAX_RESENT)
        : await resetKeyEmail(client, which.transactionId, { now, abandonedBefore });
    if (reset.length === 0) return 0;
    await queueKeyEmails(client, reset);
    await insertAuditEntry(client, {
      occurredAt: now,
      actor,
      reason,
      action: 'mail.resend',
      subjectId: typeof which === 'string' ? which : which.transactionId,
      details: { queued: reset.length },
    });
    return reset.length;
  });
}
