import { inTransaction } from '#server/db/transaction.ts';
import { notPossible, rateLimited } from '#server/errors.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';
import type { MailTransport } from '#server/mail/mail-transport.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { hashAddress, subscriberIdOf } from '../suppressions/address-hash.ts';
import type { ManualChange, ManualChangeDependencies } from '../suppressions/change-address.ts';
import { lockAddress } from '../suppressions/queries/suppressions.ts';
import { rewriteAddresses } from '../suppressions/stored-addresses.ts';
import { lockMailbox } from './mailbox-limit.ts';
import { countConfirmationMails } from './queries/confirmations.ts';
import { findSubscriber } from './queries/subscribers.ts';
import { secondsToNextMail, mayBeAsked } from './rules/subscription.ts';

export interface ResendDependencies extends ManualChangeDependencies {
  readonly mail: MailTransport | null;
}

const DAY_MS = 86_400_000;

const NO_MAIL =
  'No mail relay is configured: set LATCHKEY_SMTP_URL and LATCHKEY_MAIL_FROM, then restart.';

/**
 * Sends a subscriber the confirmation e-mail once more, within the limits that protect mailboxes.
 * @returns false when the subscriber needs no confirmation, or cannot confirm
 * @throws notPossible (409), rateLimited (429) after too many e-mails to the address
 */
export async function resendConfirmation(
  deps: ResendDependencies,
  { email, actor, reason }: ManualChange,
): Promise<boolean> {
  const { clock, mail, pool, vault } = deps;
  if (mail === null) throw notPossible(NO_MAIL);
  const addressHash = hashAddress(vault, email);
  const now = clock.now();
  await rewriteAddresses(deps, [email]);
  return inTransaction(pool, async (db) => {
    await lockAddress(db, addressHash);
    const subscriber = await findSubscriber(db, addressHash);
    if (subscriber === null || !mayBeAsked(subscriber)) return false;
    const dayAgo = new Date(now.getTime() - DAY_MS);
    const mails = await countConfirmationMails(db, addressHash, dayAgo);
    const seconds = secondsToNextMail(mails, now);
    const { waitSeconds } = await lockMailbox(db, vault, subscriber.email ?? email, null, now);
    if (seconds + waitSeconds > 0) throw rateLimited(Math.max(seconds, waitSeconds));
    await addJobs(db, [{ name: 'send_confirmation', payload: { addressHash }, key: addressHash }]);
    const subjectId = subscriberIdOf(vault, addressHash);
    const entry = { action: 'subscriber.resend_confirmation', subjectId, details: {} };
    await insertAuditEntry(db, { ...entry, occurredAt: now, actor, reason });
    return true;
  });
}
