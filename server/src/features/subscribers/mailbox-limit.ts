import type { Queryable } from '#server/db/statement.ts';
import type { Vault } from '#server/lib/vault.ts';

import { hashMailboxUnderAll } from '../suppressions/address-hash.ts';
import { lockAddress } from '../suppressions/queries/suppressions.ts';
import { findEarlierAttempt } from './queries/confirmations.ts';
import { MAX_MAILS_OF_MAILBOX_A_DAY } from './rules/subscription.ts';

const DAY_MS = 86_400_000;

/** Whether a mailbox may get another confirmation e-mail. */
interface MailboxStanding {
  readonly mailboxHash: string;
  /** The seconds until it may; 0: now. */
  readonly waitSeconds: number;
}

/**
 * Reads the limit of the mailbox of an address, and locks it until the transaction ends, so that concurrent e-mails to its
 * sub-addresses are counted too.
 * @param exceptTokenHash the link of an e-mail that is repeated, which does not count; null: none
 */
export async function lockMailbox(
  db: Queryable,
  vault: Pick<Vault, 'hashText' | 'previous'>,
  email: string,
  exceptTokenHash: string | null,
  now: Date,
): Promise<MailboxStanding> {
  const hashes = hashMailboxUnderAll(vault, email);
  const [mailboxHash] = hashes;
  await lockAddress(db, mailboxHash);
  const since = new Date(now.getTime() - DAY_MS);
  const limit = MAX_MAILS_OF_MAILBOX_A_DAY;
  const earlier = await findEarlierAttempt(db, hashes, since, exceptTokenHash, limit);
  if (earlier === null) return { mailboxHash, waitSeconds: 0 };
  const waitMs = earlier.getTime() + DAY_MS - now.getTime();
  return { mailboxHash, waitSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
}
