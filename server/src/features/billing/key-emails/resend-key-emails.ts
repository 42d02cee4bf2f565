import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../../audit/queries.ts';
import { queueKeyEmails } from '../queue-jobs.ts';
import { resetKeyEmail, resetRefusedKeyEmails } from './resend-queries.ts';
import { CLAIM_TIMEOUT_MS } from './send-key-email.ts';

/** Which e-mails with keys are sent again by hand, by whom and why. */
export interface ResendOrder {
  /**
   * A transaction's, whatever became of it; all that a relay refused for good; or all of which it did not say whether it
   * took them.
   */
  readonly which: { readonly transactionId: string } | 'refused' | 'unconfirmed';
  readonly actor: string;
  readonly reason: string | null;
}

const MAX_AT_ONCE = 10_000;

/**
 * Has e-mails with keys sent again, and leaves an audit row. Gives how many; none when there is no such transaction with
 * licenses, or its e-mail is under way.
 */
export async function resendKeyEmails(
  { pool, clock }: Pick<Context, 'clock' | 'pool'>,
  { which, actor, reason }: ResendOrder,
): Promise<number> {
  const now = clock.now();
  const abandonedBefore = new Date(now.getTime() - CLAIM_TIMEOUT_MS);
  return inTransaction(pool, async (client) => {
    const names =
      typeof which === 'string'
        ? await resetRefusedKeyEmails(client, which, now, MAX_AT_ONCE)
        : await resetKeyEmail(client, which.transactionId, { now, abandonedBefore });
    if (names.length === 0) return 0;
    await queueKeyEmails(client, names);
    await insertAuditEntry(client, {
      occurredAt: now,
      actor,
      reason,
      action: 'mail.resend',
      subjectId: typeof which === 'string' ? which : which.transactionId,
      details: { queued: names.length },
    });
    return names.length;
  });
}
