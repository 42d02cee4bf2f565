import { listAuditEntries, type AuditEntry } from '../audit/queries.ts';
import { listMessagesOfAddress, type AddressMessage } from '../outreach/queries/messages.ts';
import { hashAddress, hashAddressUnderAll, subscriberIdOf } from '../suppressions/address-hash.ts';
import { findSuppression, type Suppression } from '../suppressions/queries/suppressions.ts';
import { rewriteAddresses, type AddressDependencies } from '../suppressions/stored-addresses.ts';
import type { SubscriberFacts } from './facts.ts';
import {
  findSubscriber,
  findSubscriberById,
  listSubscribersBefore,
} from './queries/subscribers.ts';
import { stateOf, type SubscriberState } from './rules/subscription.ts';

/** All stored data of an address as a recipient of mail. */
export interface AddressView {
  readonly id: string;
  readonly subscriber: SubscriberFacts | null;
  readonly suppression: Suppression | null;
  readonly outreach: readonly AddressMessage[];
  /** Changes by operators. */
  readonly history: readonly Pick<AuditEntry, 'occurredAt' | 'actor' | 'action' | 'reason'>[];
}

export async function showSubscriber(
  { pool, vault }: AddressDependencies,
  email: string,
): Promise<AddressView> {
  const addressHash = hashAddress(vault, email);
  const id = subscriberIdOf(vault, addressHash);
  await rewriteAddresses({ pool, vault }, [email]);
  const hashes = hashAddressUnderAll(vault, email);
  const outreach: AddressMessage[] = [];
  for (const each of hashes) outreach.push(...(await listMessagesOfAddress(pool, each)));
  return {
    id,
    subscriber: await findSubscriber(pool, addressHash),
    suppression: await findSuppression(pool, addressHash),
    outreach,
    history: await listAuditEntries(pool, id),
  };
}

/** Returns the address of a subscriber with an id; null when there is none, or its address was erased. */
export async function findSubscriberEmail(
  { pool }: Pick<AddressDependencies, 'pool'>,
  id: string,
): Promise<string | null> {
  return (await findSubscriberById(pool, id))?.email ?? null;
}

/** Returns the stored data of a subscriber with an id; null when there is none. */
export async function showSubscriberById(
  deps: AddressDependencies,
  id: string,
): Promise<(AddressView & { readonly subscriber: SubscriberFacts }) | null> {
  const subscriber = await findSubscriberById(deps.pool, id);
  if (subscriber === null) return null;
  if (subscriber.email !== null) {
    const view = await showSubscriber(deps, subscriber.email);
    return { ...view, subscriber: view.subscriber ?? subscriber };
  }
  const history = await listAuditEntries(deps.pool, id);
  return { id, subscriber, suppression: null, outreach: [], history };
}

const PAGE_ROWS = 1_000;

/**
 * Yields every subscriber, newest first. Reads page by page, so that memory and transactions do not grow with the
 * table.
 * @param state only subscribers in this state
 */
export async function* readSubscribers(
  { pool }: Pick<AddressDependencies, 'pool'>,
  state?: SubscriberState,
): AsyncGenerator<SubscriberFacts> {
  for (let last: SubscriberFacts | null = null; ;) {
    const page: SubscriberFacts[] = await listSubscribersBefore(pool, last, PAGE_ROWS);
    yield* page.filter((subscriber) => state === undefined || stateOf(subscriber) === state);
    last = page.at(-1) ?? null;
    if (last === null || page.length < PAGE_ROWS) return;
  }
}
