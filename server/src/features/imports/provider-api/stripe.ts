/** Reads the running subscriptions of an account at Stripe. */
import { Type } from 'typebox';

import type { SubscriptionFact } from '../../billing/facts.ts';
import { stripeAdapter } from '../../billing/providers/stripe/adapter.ts';
import {
  readEmail,
  readId,
  readObject,
  readObjects,
  readReference,
  readText,
  readUnixSeconds,
  type JsonObject,
} from '../../billing/providers/fields.ts';
import { readPages, type ApiReader } from './api-reader.ts';
import { isCurrent, readSnapshot } from './read-snapshot.ts';
import type { ProviderRecord, ProviderRecords, UnreadableRecord } from './records.ts';

const PAGE_SIZE = 100;

/** The version since which items have the period, so that all accounts answer in one form. */
export const STRIPE_VERSION = '2025-03-31.basil';

const List = Type.Object({
  data: Type.Array(Type.Unknown(), { maxItems: PAGE_SIZE }),
  has_more: Type.Boolean(),
});

/**
 * Reads the subscriptions that have not ended, newest first, with their customers.
 * @throws ProviderApiError
 * @see https://docs.stripe.com/api/subscriptions/list
 */
export async function* readStripe(api: ApiReader): ProviderRecords {
  const pages = readPages(api, async (after) => {
    // By default, canceled subscriptions are not listed.
    const query = new URLSearchParams({ limit: String(PAGE_SIZE), 'expand[]': 'data.customer' });
    if (after !== null) query.set('starting_after', after);
    const { data, has_more: hasMore } = await api.get(
      `/v1/subscriptions?${query.toString()}`,
      List,
    );
    const items = data.map(readObject);
    return { items, next: hasMore ? readId(items.at(-1)?.['id']) : null };
  });
  for await (const page of pages) {
    for (const subscription of page)
      yield await toRecord(api, await withAllItems(api, subscription));
  }
}

/** A list contains ten items of a subscription, which may have twenty. */
async function withAllItems(api: ApiReader, subscription: JsonObject): Promise<JsonObject> {
  const id = readId(subscription['id']);
  if (id === null || readObject(subscription['items'])['has_more'] !== true) return subscription;
  const query = new URLSearchParams({ subscription: id, limit: String(PAGE_SIZE) });
  return {
    ...subscription,
    items: await api.get(`/v1/subscription_items?${query.toString()}`, List),
  };
}

async function toRecord(
  api: ApiReader,
  subscription: JsonObject,
): Promise<ProviderRecord | UnreadableRecord> {
  const id = readId(subscription['id']) ?? '';
  const snapshot = readSnapshot(stripeAdapter, {
    id: 'evt_import',
    type: 'customer.subscription.updated',
    created: Math.floor(api.now().getTime() / 1_000),
    data: { object: subscription },
  });
  if (typeof snapshot === 'string') return { id, problem: snapshot };
  const customer = readObject(subscription['customer']);
  return {
    provider: 'stripe',
    id,
    customer: {
      email: readEmail(customer['email']),
      name: readText(customer['name']),
      locale: null,
    },
    subscription: { snapshot, paidUntil: await findPaidUntil(api, subscription, snapshot) },
    key: null,
    isTest: subscription['livemode'] !== true,
  };
}

/** The period of a subscription begins when its payment is due, paid or not. */
async function findPaidUntil(
  api: ApiReader,
  subscription: JsonObject,
  snapshot: SubscriptionFact,
): Promise<Date | null> {
  if (isCurrent(snapshot) && snapshot.period !== null) return null;
  const items = [subscription, ...readObjects(subscription['items'])];
  const [startsAt = null] = items.flatMap(
    (item) => readUnixSeconds(item['current_period_start']) ?? [],
  );
  const [endsAt = null] = items.flatMap(
    (item) => readUnixSeconds(item['current_period_end']) ?? [],
  );
  if (isCurrent(snapshot) && (await isInvoicePaid(api, subscription))) return endsAt;
  // The first period, or the one after a trial.
  const begins = [subscription['start_date'], subscription['created'], subscription['trial_end']];
  const firstAt = Math.max(...begins.map((time) => readUnixSeconds(time)?.getTime() ?? 0));
  return startsAt !== null && startsAt.getTime() > firstAt ? startsAt : null;
}

const Invoice = Type.Object({ status: Type.Unknown() });

/** A subscription with invoices by e-mail is active before it is paid. */
async function isInvoicePaid(api: ApiReader, subscription: JsonObject): Promise<boolean> {
  const id = readReference(subscription['latest_invoice']);
  if (id === null) return false;
  return (await api.get(`/v1/invoices/${encodeURIComponent(id)}`, Invoice)).status === 'paid';
}
