import { parseEmail, type OutreachRequest, type OutreachResponse } from '@latchkey/contract';
import { v7 as createUuid } from 'uuid';

import { failed, toResult, type EndedMessage } from './message-outcome.ts';
import type { OutreachDependencies } from './dependencies.ts';
import type { OutreachCall } from './outreach-request.ts';
import { prepareMessages } from './prepare-messages.ts';
import { sendMessages } from './send-messages.ts';
import { sendOnce } from './send-once.ts';

/**
 * Sends a message to each recipient of a request, and returns one result for each in the order given. With an idempotency
 * key, a request repeated within a day is not sent again, even if the process that sent it was killed.
 * @throws PublicError `idempotency_key_reused` (409) for another body under the same key; `overloaded` (503) for too many
 * requests at the same time; `draining` (503) when the service stops before the request starts
 */
export async function sendOutreach(
  deps: OutreachDependencies,
  call: OutreachCall,
): Promise<OutreachResponse> {
  const { outreach, outreachMail } = deps;
  const recipients = call.request.recipients.map(toRecipient);
  if (outreachMail === null) {
    const ended = { ...failed('mail_not_configured'), messageId: '' };
    return toResponse(recipients.map(({ email }) => ({ email, ...ended })));
  }
  return outreach.handle(async (end) => {
    const work = { ...call, recipients, transport: outreachMail, end };
    if (call.idempotencyKey !== null) {
      return toResponse(await sendOnce(deps, work, call.idempotencyKey));
    }
    return outreach.run(async () => {
      const stored = await prepareMessages(deps, work, createUuid());
      return toResponse(await sendMessages(deps, work, stored));
    });
  });
}

/** Normalizes the address: trimmed, its domain in lower case. */
function toRecipient({ email, name }: OutreachRequest['recipients'][number]) {
  const parsed = parseEmail(email);
  return { email: 'email' in parsed ? parsed.email : email, name: name ?? null };
}

function toResponse(messages: readonly EndedMessage[]): OutreachResponse {
  const results = messages.map(toResult);
  const sent = results.filter(({ success }) => success).length;
  return { total: results.length, sent, failed: results.length - sent, results };
}
