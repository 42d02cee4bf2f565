/** Reads the running subscriptions and the license keys of an organization at Polar. */
import { Type, type Static } from 'typebox';

import {
  readEmail,
  readId,
  readInteger,
  readList,
  readObject,
  readText,
  readTime,
  type JsonObject,
} from '../../billing/providers/fields.ts';
import { polarAdapter } from '../../billing/providers/polar/adapter.ts';
import { readNumberedPages, type ApiReader } from './api-reader.ts';
import { isCurrent, readSnapshot } from './read-snapshot.ts';
import type {
  ProviderKey,
  ProviderMachine,
  ProviderRecord,
  ProviderRecords,
  RunningSubscription,
  UnreadableRecord,
} from './records.ts';

const PAGE_SIZE = 100;

const List = Type.Object({
  items: Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: PAGE_SIZE }),
  pagination: Type.Object({ max_page: Type.Number() }),
});

const Activations = Type.Object({
  activations: Type.Array(
    Type.Object({
      id: Type.String(),
      label: Type.Optional(Type.Unknown()),
      created_at: Type.Optional(Type.Unknown()),
    }),
    { maxItems: 1_000 },
  ),
});

/**
 * Reads the license keys with their machines and subscriptions, then the running subscriptions without a key. A key names neither
 * its product nor its subscription: both have the benefit that issued the key.
 * @throws ProviderApiError
 * @see https://polar.sh/docs/api-reference/license-keys/list
 */
export async function* readPolar(api: ApiReader): ProviderRecords {
  const subscriptions = await readSubscriptions(api);
  const products = await readProducts(api);
  const used = new Set<FoundSubscription>();
  for await (const items of listPages(api, 'license-keys')) {
    for (const item of items) {
      const id = readId(item['id']) ?? '';
      const benefitId = readId(item['benefit_id']) ?? '';
      const found = subscriptions.find((each) => isOf(each, item, benefitId));
      if (found !== undefined) used.add(found);
      const productId = found?.productId ?? products.get(benefitId) ?? null;
      const machines = await readMachines(api, id, item);
      yield toRecord(id, item, found, toKey(item, productId, machines));
    }
  }
  for (const found of subscriptions) {
    if (!used.has(found)) yield toRecord(found.id, found.item, found, null);
  }
}

/** A subscription that has not ended. */
interface FoundSubscription {
  readonly id: string;
  readonly item: JsonObject;
  readonly productId: string | null;
  readonly customerId: string | null;
  readonly benefitIds: ReadonlySet<string>;
  readonly subscription: RunningSubscription | string;
}

async function readSubscriptions(api: ApiReader): Promise<FoundSubscription[]> {
  const all: FoundSubscription[] = [];
  for await (const items of listPages(api, 'subscriptions')) {
    for (const item of items) {
      const snapshot = readSnapshot(polarAdapter, {
        type: 'subscription.updated',
        timestamp: api.now().toISOString(),
        data: item,
      });
      if (typeof snapshot === 'object' && snapshot.status === 'canceled') continue;
      all.push({
        id: readId(item['id']) ?? '',
        item,
        productId: readId(item['product_id']),
        customerId: readId(item['customer_id']),
        benefitIds: readBenefits(item['product']),
        subscription:
          typeof snapshot === 'string'
            ? snapshot
            : { snapshot, paidUntil: isCurrent(snapshot) ? null : findPaidUntil(item) },
      });
    }
  }
  return all;
}

/** A period begins when its payment is due, paid or not. */
function findPaidUntil(item: JsonObject): Date | null {
  const dueAt = readTime(item['current_period_start']);
  const begins = [readTime(item['started_at']), readTime(item['trial_end'])];
  const firstAt = Math.max(...begins.map((time) => time?.getTime() ?? 0));
  return dueAt !== null && dueAt.getTime() > firstAt ? dueAt : null;
}

function readBenefits(product: unknown): ReadonlySet<string> {
  const benefits = readList(readObject(product)['benefits']);
  return new Set(benefits.flatMap((each) => readId(readObject(each)['id']) ?? []));
}

function isOf(found: FoundSubscription, key: JsonObject, benefitId: string): boolean {
  return found.customerId === readId(key['customer_id']) && found.benefitIds.has(benefitId);
}

/** Returns the product of each benefit that only one product has. */
async function readProducts(api: ApiReader): Promise<ReadonlyMap<string, string>> {
  const products = new Map<string, string[]>();
  for await (const items of listPages(api, 'products')) {
    for (const item of items) {
      const id = readId(item['id']);
      if (id === null) continue;
      for (const benefitId of readBenefits(item)) {
        products.set(benefitId, [...(products.get(benefitId) ?? []), id]);
      }
    }
  }
  const single = Array.from(products).filter(([, ids]) => ids.length === 1);
  return new Map(
    single.flatMap(([benefitId, [id]]) => (id === undefined ? [] : [[benefitId, id]])),
  );
}

/** Only keys with a limit have activations. */
async function readMachines(
  api: ApiReader,
  id: string,
  item: JsonObject,
): Promise<readonly ProviderMachine[]> {
  if (readInteger(item['limit_activations']) === null) return [];
  const path = `/v1/license-keys/${encodeURIComponent(id)}`;
  const { activations } = await api.get(path, Activations);
  return activations.map((activation) => ({
    instanceId: activation.id,
    name: readText(activation.label),
    activatedAt: readTime(activation.created_at),
  }));
}

async function* listPages(
  api: ApiReader,
  kind: string,
): AsyncGenerator<Static<typeof List>['items']> {
  const pages = readNumberedPages(api, async (page) => {
    const query = new URLSearchParams({ page: String(page), limit: String(PAGE_SIZE) });
    const { items, pagination } = await api.get(`/v1/${kind}/?${query.toString()}`, List);
    return { items: [items], last: pagination.max_page };
  });
  for await (const page of pages) yield* page;
}

function toKey(
  item: JsonObject,
  productId: string | null,
  machines: readonly ProviderMachine[],
): ProviderKey {
  return {
    licenseKey: readText(item['key'], 255) ?? '',
    priceId: productId,
    productIds: productId === null ? [] : [productId],
    transactionId: null,
    state: readState(item['status']),
    maxActivations: readInteger(item['limit_activations']),
    expiresAt: readTime(item['expires_at']),
    machines,
    details: {},
  };
}

function readState(status: unknown): ProviderKey['state'] {
  if (status === 'granted') return 'valid';
  return status === 'revoked' ? 'revoked' : 'suspended';
}

function toRecord(
  id: string,
  item: JsonObject,
  found: FoundSubscription | undefined,
  key: ProviderKey | null,
): ProviderRecord | UnreadableRecord {
  const subscription = found?.subscription ?? null;
  if (typeof subscription === 'string') return { id, problem: subscription };
  if (key?.licenseKey === '') return { id, problem: 'It has no license key.' };
  const customer = readObject(item['customer']);
  return {
    provider: 'polar',
    id,
    customer: {
      email: readEmail(customer['email']),
      name: readText(customer['name']),
      locale: null,
    },
    subscription,
    key,
    isTest: false,
  };
}
