/** Reads the running subscriptions of an account at Paddle Billing. */
import { Type } from 'typebox';

import { UNKNOWN_CUSTOMER, type CustomerDetails } from '../../billing/facts.ts';
import { paddleAdapter } from '../../billing/providers/paddle/adapter.ts';
import { readCustomerDetails } from '../../billing/providers/paddle/fields.ts';
import { readId, readObject, readTime, type JsonObject } from '../../billing/providers/fields.ts';
import { mergeCustomer } from '../../billing/rules/merge-versions.ts';
import { readPages, type ApiReader } from './api-reader.ts';
import { isCurrent, readSnapshot } from './read-snapshot.ts';
import type { ProviderRecord, ProviderRecords, UnreadableRecord } from './records.ts';

/** Of subscriptions and of their customers, whose ids must fit into an address. */
const PAGE_SIZE = 100;

const List = Type.Object({
  data: Type.Array(Type.Unknown(), { maxItems: 1_000 }),
  meta: Type.Object({ pagination: Type.Object({ has_more: Type.Boolean() }) }),
});

const CustomerList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      email: Type.Optional(Type.Unknown()),
      name: Type.Optional(Type.Unknown()),
      locale: Type.Optional(Type.Unknown()),
    }),
    { maxItems: 1_000 },
  ),
});

/**
 * Reads the subscriptions that have not ended, oldest first, with their customers.
 * @throws ProviderApiError
 * @see https://developer.paddle.com/api-reference/subscriptions/list-subscriptions
 */
export async function* readPaddle(api: ApiReader): ProviderRecords {
  const pages = readPages(api, async (after) => {
    const query = new URLSearchParams({
      status: 'active,trialing,past_due,paused',
      order_by: 'id[ASC]',
      per_page: String(PAGE_SIZE),
    });
    if (after !== null) query.set('after', after);
    const { data, meta } = await api.get(`/subscriptions?${query.toString()}`, List);
    const items = data.map(readObject);
    return { items, next: meta.pagination.has_more ? readId(items.at(-1)?.['id']) : null };
  });
  for await (const page of pages) {
    const customers = await readCustomers(api, page);
    for (const subscription of page) yield toRecord(api, subscription, customers);
  }
}

type Customers = ReadonlyMap<string, CustomerDetails>;

async function readCustomers(
  api: ApiReader,
  subscriptions: readonly JsonObject[],
): Promise<Customers> {
  const ids = new Set(subscriptions.flatMap((each) => readId(each['customer_id']) ?? []));
  if (ids.size === 0) return new Map();
  const query = new URLSearchParams({
    id: [...ids].join(','),
    status: 'active,archived',
    per_page: String(PAGE_SIZE),
  });
  const { data } = await api.get(`/customers?${query.toString()}`, CustomerList);
  return new Map(data.map((customer) => [customer.id, readCustomerDetails(customer)]));
}

function toRecord(
  api: ApiReader,
  subscription: JsonObject,
  customers: Customers,
): ProviderRecord | UnreadableRecord {
  const id = readId(subscription['id']) ?? '';
  const snapshot = readSnapshot(paddleAdapter, {
    event_id: 'evt_import',
    event_type: 'subscription.updated',
    occurred_at: api.now().toISOString(),
    data: subscription,
  });
  if (typeof snapshot === 'string') return { id, problem: snapshot };
  const { customerId, period, pausedAt } = snapshot;
  const known = customers.get(customerId ?? '') ?? UNKNOWN_CUSTOMER;
  const firstBilledAt = readTime(subscription['first_billed_at']);
  // The period of a subscription that is past due begins when its payment was due.
  const dueAt = period?.startsAt ?? pausedAt;
  const isPaid = dueAt !== null && firstBilledAt !== null && dueAt > firstBilledAt;
  return {
    provider: 'paddle',
    id,
    customer: mergeCustomer(snapshot.customer, known),
    subscription: { snapshot, paidUntil: isPaid && !isCurrent(snapshot) ? dueAt : null },
    key: null,
    isTest: false,
  };
}
