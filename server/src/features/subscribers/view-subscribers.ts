import type { Context } from '#server/context.ts';

import { listAuditEntries, type AuditEntry } from '../audit/queries.ts';
import { listOutreachMails, type OutreachMail } from '../outreach/queries/messages.ts';
import { hashAddress, subscriberIdOf } from '../suppressions/address-hash.ts';
import { findSuppression, type Suppression } from '../suppressions/queries.ts';
import { hashAddressUnderAll, rewriteAddresses } from '../suppressions/rewrite-addresses.ts';
import type { SubscriberFacts } from './facts.ts';
import { findSubscriber, listSubscribersBefore } from './queries/subscribers.ts';
import { stateOf, type SubscriberState } from './rules/subscription.ts';

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

const PAGE_ROWS = 1_000;

/**
 * Every subscriber, the newest first, page by page, so that neither memory nor a transaction grows with the table.
 * @param state only those that stand so
 */
export async function* readSubscribers(
  { pool }: Pick<Context, 'pool'>,
  state?: SubscriberState,
): AsyncGenerator<SubscriberFacts> {
  for (let last: SubscriberFacts | null = null; ;) {
    const page: SubscriberFacts[] = await listSubscribersBefore(pool, last, PAGE_ROWS);
    yield* page.filter((subscriber) => state === undefined || stateOf(subscriber) === state);
    last = page.at(-1) ?? null;
    if (last === null || page.length < PAGE_ROWS) return;
  }
}
