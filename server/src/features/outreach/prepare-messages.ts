import { v7 as makeUuid } from 'uuid';

import { makeMessageId } from '#server/mail/message-id.ts';
import { parseMailbox } from '#server/mail/parse-mailbox.ts';

import { hashAddress } from '../suppressions/hash-address.ts';
import { listSuppressedAddresses } from '../suppressions/list-suppressed-addresses.ts';
import { insertMessages } from './queries/messages.ts';
import { planMessages } from './rules/plan-messages.ts';
import type { OutreachContext, OutreachMessage, OutreachWork } from './outreach-work.ts';

/** Decides who is written to, and stores it with the ids of the messages; nothing is sent. */
export async function prepareMessages(
  { databaseLimiter, pool, vault, config, clock }: OutreachContext,
  { recipients, request: { template, language = 'en' } }: OutreachWork,
  requestId: string,
): Promise<OutreachMessage[]> {
  const { address } = parseMailbox(config.mail.from ?? '');
  const hashed = recipients.map(({ email }) => ({ addressHash: hashAddress(vault, email) }));
  return databaseLimiter.run(async () => {
    const emails = recipients.map(({ email }) => email);
    const isSuppressed = await listSuppressedAddresses({ pool, vault }, emails);
    const suppressed = hashed.filter((_, position) => isSuppressed[position] === true);
    const hashes = suppressed.map(({ addressHash }) => addressHash);
    const plan = planMessages(hashed, new Set(hashes));
    const messages = hashed.map(({ addressHash }, position) => ({
      addressHash,
      messageId: makeMessageId(`outreach-${makeUuid()}`, address),
      error: plan[position] ?? null,
    }));
    const group = { requestId, template, language, createdAt: clock.now() };
    await insertMessages(pool, group, messages);
    return messages.map(({ messageId, error }) => ({
      messageId,
      error,
      state: error === null ? 'waiting' : 'failed',
    }));
  });
}
