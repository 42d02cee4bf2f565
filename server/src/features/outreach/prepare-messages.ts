import { v7 as makeUuid } from 'uuid';

import { formatMessageId, parseMailbox } from '#server/mail/mailbox.ts';

import { hashAddress } from '../suppressions/address-hash.ts';
import { listSuppressedAddresses } from '../suppressions/stored-addresses.ts';
import type { OutreachContext, OutreachMessage, OutreachWork } from './outreach-request.ts';
import { insertMessages } from './queries/messages.ts';

/** Somebody who is to be written to. */
export interface PlannedRecipient {
  /** The same for all spellings of an address. */
  readonly addressHash: string;
}

/** Why somebody is not written to. */
export type Exclusion = 'suppressed' | 'duplicate';

/**
 * Decides who is written to: of several recipients with one address the first, unless the address wants no mail.
 * @param suppressed the hashes of addresses that want none
 * @returns for each recipient, in the order given, why nothing is sent; null when something is
 */
export function planMessages(
  recipients: readonly PlannedRecipient[],
  suppressed: ReadonlySet<string>,
): (Exclusion | null)[] {
  const seen = new Set<string>();
  return recipients.map(({ addressHash }) => {
    if (seen.has(addressHash)) return 'duplicate';
    seen.add(addressHash);
    return suppressed.has(addressHash) ? 'suppressed' : null;
  });
}

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
      messageId: formatMessageId(`outreach-${makeUuid()}`, address),
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
