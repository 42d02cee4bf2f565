import { v7 as createUuid } from 'uuid';

import { formatMessageId, parseMailbox } from '#server/mail/mailbox.ts';

import { hashAddress } from '../suppressions/address-hash.ts';
import { listSuppressedAddresses } from '../suppressions/stored-addresses.ts';
import type { OutreachDependencies } from './dependencies.ts';
import type { OutreachWork, StoredRequest } from './outreach-request.ts';
import { insertMessages } from './queries/messages.ts';

/** Why a recipient receives no message. */
export type Exclusion = 'suppressed' | 'duplicate';

/**
 * Selects the recipients: the first one with each address, unless the address is suppressed.
 * @param addressHashes the same for all spellings of an address
 * @returns for each recipient, in order, why it is excluded, or null
 */
export function excludeRecipients(
  addressHashes: readonly string[],
  suppressed: ReadonlySet<string>,
): (Exclusion | null)[] {
  const seen = new Set<string>();
  return addressHashes.map((hash) => {
    if (seen.has(hash)) return 'duplicate';
    seen.add(hash);
    return suppressed.has(hash) ? 'suppressed' : null;
  });
}

/** Stores the messages of a request, before any of them is sent. */
export async function prepareMessages(
  { databaseLimiter, pool, vault, config, clock }: OutreachDependencies,
  { recipients, request: { template, language = 'en' } }: OutreachWork,
  requestId: string,
): Promise<StoredRequest> {
  const { address } = parseMailbox(config.mail.from ?? '');
  const emails = recipients.map(({ email }) => email);
  const hashes = emails.map((email) => hashAddress(vault, email));
  return databaseLimiter.run(async () => {
    const isSuppressed = await listSuppressedAddresses(pool, vault, emails);
    const suppressed = hashes.filter((_, position) => isSuppressed[position] === true);
    const exclusions = excludeRecipients(hashes, new Set(suppressed));
    const messages = hashes.map((addressHash, position) => ({
      addressHash,
      messageId: formatMessageId(`outreach-${createUuid()}`, address),
      error: exclusions[position] ?? null,
    }));
    const group = { requestId, template, language, createdAt: clock.now() };
    await insertMessages(pool, group, messages);
    return {
      requestId,
      messages: messages.map(({ messageId, error }) => ({
        messageId,
        error,
        state: error === null ? 'waiting' : 'failed',
      })),
    };
  });
}
