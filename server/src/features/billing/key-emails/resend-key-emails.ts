import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../../audit/queries.ts';
import { queueKeyEmails } from '../queue-jobs.ts';
import { resetKeyEmail, resetRefusedKeyEmails } from './backlog-queries.ts';
import { CLAIM_TIMEOUT_MS } from './send-key-email.ts';

/** Selection, actor and reason of a manual resend. */
export interface ResendOrder {
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
  { which, actor, reason }: ResendOrder,
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
