/** Reads the running subscriptions and the license keys of an account at Lemon Squeezy. */
import { Type } from 'typebox';

import type { SubscriptionFact } from '../../billing/facts.ts';
import { lemonSqueezyAdapter } from '../../billing/providers/lemon-squeezy/adapter.ts';
import { qualifyId, readBuyer } from '../../billing/providers/lemon-squeezy/payments.ts';
import {
  readId,
  readInteger,
  readText,
  readTime,
  type JsonObject,
} from '../../billing/providers/fields.ts';
import { readNumberedPages, type ApiReader } from './api-reader.ts';
import { isCurrent, readSnapshot } from './read-snapshot.ts';
import type {
  ProviderKey,
  ProviderMachine,
  ProviderRecord,
  ProviderRecords,
  UnreadableRecord,
} from './records.ts';

const PAGE_SIZE = 100;

const Resource = Type.Object({
  id: Type.Unknown(),
  type: Type.Optional(Type.Unknown()),
  attributes: Type.Record(Type.String(), Type.Unknown()),
});

const List = Type.Object({
  data: Type.Array(Resource, { maxItems: PAGE_SIZE }),
  included: Type.Optional(Type.Array(Resource, { maxItems: 1_000 })),
  meta: Type.Object({ page: Type.Object({ lastPage: Type.Number() }) }),
});

/** The attributes of an object, with its id. */
interface Item {
  readonly id: string;
  readonly attributes: JsonObject;
}

/**
 * Reads the license keys with their machines and subscriptions, then the running subscriptions without a key. Subscriptions and
 * machines are read first, because a key refers to neither.
 * @throws ProviderApiError
 * @see https://docs.lemonsqueezy.com/api/license-keys/list-all-license-keys
 */
export async function* readLemonSqueezy(api: ApiReader): ProviderRecords {
  const subscriptions = await readSubscriptions(api);
  const machines = await readMachines(api);
  const used = new Set<string>();
  for await (const page of listPages(api, 'license-keys', { include: 'order,order-item' })) {
    for (const { id, attributes } of page.items) {
      const itemId = readId(attributes['order_item_id']) ?? '';
      used.add(itemId);
      const key = toKey(attributes, {
        variantId: page.variants.get(itemId) ?? null,
        isRefunded: page.refundedOrders.has(readId(attributes['order_id']) ?? ''),
        found: subscriptions.get(itemId),
        machines: machines.get(id) ?? [],
      });
      yield toRecord(id, attributes, subscriptions.get(itemId), key);
    }
  }
  for (const [itemId, found] of subscriptions) {
    if (used.has(itemId) || found.state === 'ended') continue;
    yield toRecord(found.id, found.attributes, found, null);
  }
}

/** A subscription; `ended` ones are not imported, but tell the keys of subscriptions from those of one-time purchases. */
interface FoundSubscription extends Item {
  readonly state: 'running' | 'ended';
  readonly snapshot: SubscriptionFact | string;
  readonly paidUntil: Date | null;
}

/** By the order item that started it. */
type Subscriptions = ReadonlyMap<string, FoundSubscription>;

async function readSubscriptions(api: ApiReader): Promise<Subscriptions> {
  const found = new Map<string, FoundSubscription>();
  for await (const { items } of listPages(api, 'subscriptions')) {
    for (const { id, attributes } of items) {
      const snapshot = readSnapshot(lemonSqueezyAdapter, {
        meta: { event_name: 'subscription_updated' },
        data: { id, attributes },
      });
      const ended = typeof snapshot !== 'string' && snapshot.status === 'canceled';
      const paidUntil = ended ? null : await findPaidUntil(api, id, snapshot);
      const state = ended ? 'ended' : 'running';
      const itemId = readId(attributes['order_item_id']) ?? `subscription ${id}`;
      found.set(itemId, { id, attributes, snapshot, paidUntil, state });
    }
  }
  return found;
}

/** An unpaid subscription reports only the next attempt: the invoice that is not paid was due when it was created. */
async function findPaidUntil(
  api: ApiReader,
  id: string,
  snapshot: SubscriptionFact | string,
): Promise<Date | null> {
  if (typeof snapshot === 'string' || isCurrent(snapshot)) return null;
  const pages = listPages(api, 'subscription-invoices', { 'filter[subscription_id]': id });
  const paidAt: Date[] = [];
  const dueAt: Date[] = [];
  for await (const { items } of pages) {
    for (const { attributes } of items) {
      const createdAt = readTime(attributes['created_at']);
      if (createdAt === null) continue;
      (attributes['status'] === 'paid' ? paidAt : dueAt).push(createdAt);
    }
  }
  const lastPaidAt = paidAt.toSorted(compareDates).at(-1);
  if (lastPaidAt === undefined) return null;
  // A pause ends the time that was paid before.
  return dueAt.filter((time) => time > lastPaidAt).toSorted(compareDates)[0] ?? snapshot.occurredAt;
}

function compareDates(a: Date, b: Date): number {
  return a.getTime() - b.getTime();
}

async function readMachines(api: ApiReader): Promise<ReadonlyMap<string, ProviderMachine[]>> {
  const machines = new Map<string, ProviderMachine[]>();
  for await (const { items } of listPages(api, 'license-key-instances')) {
    for (const { attributes } of items) {
      const keyId = readId(attributes['license_key_id']);
      const instanceId = readId(attributes['identifier']);
      if (keyId === null || instanceId === null) continue;
      const machine = {
        instanceId,
        name: readText(attributes['name']),
        activatedAt: readTime(attributes['created_at']),
      };
      machines.set(keyId, [...(machines.get(keyId) ?? []), machine]);
    }
  }
  return machines;
}

interface Page {
  readonly items: readonly Item[];
  /** The variants of included order items. */
  readonly variants: ReadonlyMap<string, string>;
  /** Included orders that were refunded. */
  readonly refundedOrders: ReadonlySet<string>;
}

async function* listPages(
  api: ApiReader,
  kind: string,
  filters: Readonly<Record<string, string>> = {},
): AsyncGenerator<Page> {
  const pages = readNumberedPages(api, async (page) => {
    const query = new URLSearchParams({
      ...filters,
      'page[number]': String(page),
      'page[size]': String(PAGE_SIZE),
    });
    const { data, included = [], meta } = await api.get(`/v1/${kind}?${query.toString()}`, List);
    const items = data.flatMap(({ id, attributes }) => {
      const read = readId(id);
      return read === null ? [] : [{ id: read, attributes }];
    });
    const orderItems = included.filter(({ type }) => type === 'order-items');
    const variants = new Map(
      orderItems.flatMap(({ id, attributes }): [string, string][] => {
        const [itemId, variantId] = [readId(id), readId(attributes['variant_id'])];
        return itemId === null || variantId === null ? [] : [[itemId, variantId]];
      }),
    );
    const refundedOrders = new Set(
      included
        .filter(({ type, attributes }) => type === 'orders' && attributes['refunded'] === true)
        .flatMap(({ id }) => readId(id) ?? []),
    );
    return { items: [{ items, variants, refundedOrders }], last: meta.page.lastPage };
  });
  for await (const page of pages) yield* page;
}

interface KeyParts {
  readonly variantId: string | null;
  readonly isRefunded: boolean;
  readonly found: FoundSubscription | undefined;
  readonly machines: readonly ProviderMachine[];
}

/** The ids that programs of Lemon Squeezy compare. */
const DETAILS = ['store_id', 'customer_id', 'order_id', 'order_item_id', 'product_id'] as const;

function toKey(attributes: JsonObject, parts: KeyParts): ProviderKey {
  const { variantId, found, machines } = parts;
  const orderId = readId(attributes['order_id']);
  const isOnce = found === undefined;
  const productId = readId(attributes['product_id']);
  const ids = DETAILS.flatMap((name): [string, string][] => {
    const id = readId(attributes[name]);
    return id === null ? [] : [[name, id]];
  });
  return {
    licenseKey: readText(attributes['key'], 255) ?? '',
    // As in the catalogue, where the variant of a one-time purchase has a prefix.
    priceId: variantId !== null && isOnce ? `once:${variantId}` : variantId,
    productIds: [variantId, productId].filter((id) => id !== null),
    transactionId: orderId === null ? null : qualifyId('order', orderId),
    state: readState(attributes, parts),
    maxActivations: readInteger(attributes['activation_limit']),
    expiresAt: findEnd(attributes, found),
    machines,
    details: Object.fromEntries([
      ...ids,
      ...(variantId === null ? [] : [['variant_id', variantId]]),
    ]),
  };
}

function readState(attributes: JsonObject, { isRefunded }: KeyParts): ProviderKey['state'] {
  if (isRefunded) return 'refunded';
  return isDisabled(attributes) ? 'suspended' : 'valid';
}

/** `disabled` is a number in the API, and a boolean in webhooks. */
function isDisabled({ disabled, status }: JsonObject): boolean {
  return disabled === 1 || disabled === true || status === 'disabled';
}

/** The key of a subscription ends with the subscription. */
function findEnd(attributes: JsonObject, found: FoundSubscription | undefined): Date | null {
  const own = readTime(attributes['expires_at']);
  if (own !== null || found?.state === 'running') return own;
  if (typeof found?.snapshot === 'object') {
    return found.snapshot.canceledAt ?? found.snapshot.occurredAt;
  }
  return attributes['status'] === 'expired' ? readTime(attributes['updated_at']) : null;
}

function toRecord(
  id: string,
  attributes: JsonObject,
  found: FoundSubscription | undefined,
  key: ProviderKey | null,
): ProviderRecord | UnreadableRecord {
  if (typeof found?.snapshot === 'string') return { id, problem: found.snapshot };
  if (key?.licenseKey === '') return { id, problem: 'It has no license key.' };
  const isRunning = found !== undefined && found.state === 'running';
  return {
    provider: 'lemonsqueezy',
    id,
    customer: readBuyer(attributes),
    subscription: isRunning ? { snapshot: found.snapshot, paidUntil: found.paidUntil } : null,
    key,
    isTest: attributes['test_mode'] === true,
  };
}
