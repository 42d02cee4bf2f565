import type { Context } from '#server/context.ts';

import { listAuditEntries, type AuditEntry } from '../audit/queries.ts';
import { listOutreachMails, type OutreachMail } from '../outreach/queries/messages-of-address.ts';
import { hashAddress } from '../suppressions/hash-address.ts';
import { hashAddressUnderAll, rewriteAddresses } from '../suppressions/move-addresses.ts';
import { findSuppression, type Suppression } from '../suppressions/queries.ts';
import type { SubscriberFacts } from './facts.ts';
import { findSubscriber } from './queries/subscribers.ts';
import { subscriberIdOf } from './subscriber-id.ts';

/** All that is known of an address as one that mail is sent to. */
export interface AddressView {
  readonly id: string;
  readonly subscriber: SubscriberFacts | null;
  readonly suppression: Suppression | null;
  readonly outreach: readonly OutreachMail[];
  /** What was done by hand. */
  readonly history: readonly Pick<AuditEntry, 'occurredAt' | 'actor' | 'action' | 'reason'>[];
}

/** Gives all that is held on an address: what it asked for, whether it gets mail, what was done by hand. */
export async function showSubscriber(
  { pool, vault }: Pick<Context, 'pool' | 'vault'>,
  email: string,
): Promise<AddressView> {
  const addressHash = hashAddress(vault, email);
  const id = subscriberIdOf(vault, addressHash);
  await rewriteAddresses({ pool, vault }, [email]);
  const hashes = hashAddressUnderAll(vault, email);
  const outreach = await Promise.all(hashes.map((each) => listOutreachMails(pool, each)));
  return {
    id,
    subscriber: await findSubscriber(pool, addressHash),
    suppression: await findSuppression(pool, addressHash),
    outreach: outreach.flat(),
    history: await listAuditEntries(pool, id),
  };
}
