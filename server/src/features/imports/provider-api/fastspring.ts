/** Reads the running subscriptions of a store at FastSpring. */
import { Type } from 'typebox';

import { UNKNOWN_CUSTOMER, type CustomerDetails } from '../../billing/facts.ts';
import { fastSpringAdapter } from '../../billing/providers/fastspring/adapter.ts';
import { readContact, readMillis } from '../../billing/providers/fastspring/fields.ts';
import { readId, readObject, type JsonObject } from '../../billing/providers/fields.ts';
import { mergeCustomer } from '../../billing/rules/merge-versions.ts';
import { readPages, type ApiReader } from './api-reader.ts';
import { isCurrent, readSnapshot } from './read-snapshot.ts';
import type { ProviderRecord, ProviderRecords, UnreadableRecord } from './records.ts';

/** Ids in a page; the objects are then requested by their ids, which must fit into an address. */
const PAGE_SIZE = 50;

const IdList = Type.Object({
  subscriptions: Type.Array(Type.String(), { maxItems: 1_000 }),
  nextPage: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
});

const Entry = Type.Record(Type.String(), Type.Unknown());

/** One subscription is answered without a list. */
const Subscriptions = Type.Union([
  Type.Object({ subscriptions: Type.Array(Entry, { maxItems: 1_000 }) }),
  Entry,
]);

const Accounts = Type.Union([Type.Object({ accounts: Type.Array(Entry) }), Entry]);

/**
 * Reads the subscriptions that have not ended, with the addresses of their accounts.
 * @throws ProviderApiError
 * @see https://developer.fastspring.com/reference/subscriptions
 */
export async function* readFastSpring(api: ApiReader): ProviderRecords {
  const accounts = new Map<string, CustomerDetails>();
  const pages = readPages(api, async (page) => {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE), page: page ?? '1' });
    const list = await api.get(`/subscriptions?${query.toString()}`, IdList);
    const next = list.nextPage ?? null;
    return { items: list.subscriptions, next: next === null ? null : String(next) };
  });
  for await (const ids of pages) {
    for (const subscription of await readAll(api, ids)) {
      if (subscription['state'] === 'deactivated') continue;
      yield await toRecord(api, subscription, accounts);
    }
  }
}

async function readAll(api: ApiReader, ids: readonly string[]): Promise<readonly JsonObject[]> {
  if (ids.length === 0) return [];
  const list = ids.map((id) => encodeURIComponent(id)).join(',');
  const found = await api.get(`/subscriptions/${list}`, Subscriptions);
  return readEntries(found, 'subscriptions');
}

function readEntries(response: JsonObject, list: string): readonly JsonObject[] {
  const entries = response[list];
  return Array.isArray(entries) ? entries.map(readObject) : [response];
}

async function toRecord(
  api: ApiReader,
  subscription: JsonObject,
  accounts: Map<string, CustomerDetails>,
): Promise<ProviderRecord | UnreadableRecord> {
  const id = readId(subscription['id']) ?? '';
  const snapshot = readSnapshot(fastSpringAdapter, {
    id: 'evt_import',
    type: 'subscription.updated',
    created: api.now().getTime(),
    data: subscription,
  });
  if (typeof snapshot === 'string') return { id, problem: snapshot };
  const isPaid = snapshot.status !== 'trialing' && !isCurrent(snapshot);
  const isKnown = snapshot.customer.email !== null;
  const account = isKnown
    ? UNKNOWN_CUSTOMER
    : await readAccount(api, snapshot.customerId, accounts);
  return {
    provider: 'fastspring',
    id,
    customer: mergeCustomer(snapshot.customer, account),
    subscription: { snapshot, paidUntil: isPaid ? findPaidUntil(api, subscription) : null },
    key: null,
    isTest: subscription['live'] !== true,
  };
}

/** An overdue subscription should have been charged on the day of its next charge; a paused one was changed by the pause. */
function findPaidUntil(api: ApiReader, subscription: JsonObject): Date | null {
  const { next, nextChargeDate, changed } = {
    next: readMillis(subscription['next']),
    nextChargeDate: readMillis(subscription['nextChargeDate']),
    changed: readMillis(subscription['changed']),
  };
  const dueAt = next ?? nextChargeDate;
  return dueAt !== null && dueAt <= api.now() ? dueAt : changed;
}

async function readAccount(
  api: ApiReader,
  id: string | null,
  known: Map<string, CustomerDetails>,
): Promise<CustomerDetails> {
  if (id === null) return UNKNOWN_CUSTOMER;
  const found = known.get(id);
  if (found !== undefined) return found;
  const response = await api.get(`/accounts/${encodeURIComponent(id)}`, Accounts);
  const [account = {}] = readEntries(response, 'accounts');
  const details = readContact(account['contact'], account['language']);
  known.set(id, details);
  return details;
}
