import { notPossible } from '#server/errors.ts';

import { resendKeyEmails } from '../key-emails/requeue-emails.ts';
import { resendConfirmation, type ResendDependencies } from '../subscribers/resend-confirmation.ts';
import { requireMail } from './list-mails.ts';

/** Who sends a mail again, and why. */
interface ResendChange {
  readonly actor: string;
  readonly reason: string;
}

/**
 * Queues one mail again; the running service sends it.
 * @throws noSuch (404), notPossible (409) for a mail that cannot be sent now, rateLimited (429) for a confirmation
 */
export async function resendMail(
  deps: ResendDependencies,
  id: string,
  change: ResendChange,
): Promise<number> {
  const { kind, transactionId, recipient: email } = await requireMail(deps, id);
  if (kind === 'key' && transactionId !== null) {
    const queued = await resendKeyEmails(deps, { ...change, which: { transactionId } });
    if (queued > 0) return queued;
    throw notPossible('No license belongs to this transaction, or its e-mail is being sent.');
  }
  if (kind === 'owner') {
    throw notPossible('Codes and notices are not sent again; send a key from its license.');
  }
  if (kind !== 'confirmation' || email === null) {
    throw notPossible('No address is stored for this mail: send it in a new outreach request.');
  }
  if (await resendConfirmation(deps, { ...change, email })) return 1;
  throw notPossible('The subscriber needs no confirmation, or cannot confirm.');
}
