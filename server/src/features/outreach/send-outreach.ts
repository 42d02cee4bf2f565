import { parseEmail, type OutreachRequest, type OutreachResponse } from '@latchkey/contract';
import { v7 as makeUuid } from 'uuid';

import { failed, toResult, type EndedMessage } from './message-outcome.ts';
import type { OutreachContext, OutreachOrder } from './outreach-request.ts';
import { prepareMessages } from './prepare-messages.ts';
import { sendMessages } from './send-messages.ts';
import { sendOnce } from './send-once.ts';

/**
 * Sends a letter to each recipient of a request, and tells what became of each in the order given: nobody is left out.
 * With an idempotency key, a request that comes again within a day is not sent again, whatever became of the process
 * that sent it.
 * @throws PublicError `idempotency_key_reused` (409) for another body under the same key; `overloaded` (503) when too many
 * requests are under way; `draining` (503) when the service stops before the request's turn comes
 */
export async function sendOutreach(
  ctx: OutreachContext,
  order: OutreachOrder,
): Promise<OutreachResponse> {
  const recipients = order.request.recipients.map(readRecipient);
  if (ctx.outreachMail === null) {
    const ended = { ...failed('mail_not_configured'), messageId: '' };
    return toResponse(recipients.map(({ email }) => ({ email, ...ended })));
  }
  const end = ctx.outreach.startDeadline();
  const work = { ...order, recipients, transport: ctx.outreachMail, end };
  if (order.idempotencyKey !== null) {
    return toResponse(await sendOnce(ctx, work, order.idempotencyKey));
  }
  return ctx.outreach.run(async () => {
    const requestId = makeUuid();
    const messages = await prepareMessages(ctx, work, requestId);
    return toResponse(await sendMessages(ctx, work, requestId, messages));
  });
}

/** The address as it is sent to: trimmed, its domain in lower case. */
function readRecipient({ email, name }: OutreachRequest['recipients'][number]) {
  const parsed = parseEmail(email);
  return { email: 'email' in parsed ? parsed.email : email, name: name ?? null };
}

function toResponse(messages: readonly EndedMessage[]): OutreachResponse {
  const results = messages.map(toResult);
  const sent = results.filter(({ success }) => success).length;
  return { total: results.length, sent, failed: results.length - sent, results };
}
