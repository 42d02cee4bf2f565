import { Type } from 'typebox';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';

import { isObject, readEmail, readId, readObject, type JsonObject } from '../fields.ts';
import { getJson, invalidResponse, type ProviderApiOptions } from '../provider-api.ts';

interface GumroadApiOptions {
  /** Without a trailing slash. */
  readonly url: string;
  readonly accessToken: string;
  readonly clock: Clock;
  /** Of a request, including its response. */
  readonly timeoutMs?: number;
}

/** A page of sales. */
export interface SalesPage {
  readonly sales: readonly JsonObject[];
  /** Null: it is the last one. */
  readonly nextPageKey: string | null;
}

/** The owner of the account, by the id and the address that sales and memberships contain of their buyers. */
export interface Seller {
  /** Null: not reported. */
  readonly accountId: string | null;
  readonly email: string | null;
}

/** A client of Gumroad's API, which confirms what the unsigned pings report. */
export interface GumroadApi {
  /** Returns a sale of the token's account, or null if it has none with that id. @throws ProviderApiError */
  findSale(saleId: string, signal?: AbortSignal): Promise<JsonObject | null>;
  /** Returns the state of a membership, or null for an unknown id. @throws ProviderApiError */
  findSubscriber(subscriptionId: string, signal?: AbortSignal): Promise<JsonObject | null>;
  /**
   * Returns a page of the real sales since a day, newest first.
   * @param pageKey that the previous page named; null for the first one
   * @throws ProviderApiError
   */
  listSales(since: Date, pageKey: string | null, signal?: AbortSignal): Promise<SalesPage>;
  /** Returns the owner of the token's account, as of the last hour. @throws ProviderApiError */
  findSeller(signal?: AbortSignal): Promise<Seller>;
}

/** A sale is a few kilobytes. */
const MAX_RESPONSE_BYTES = 256 * 1024;

const Answer = Type.Object({
  success: Type.Boolean(),
  sale: Type.Optional(Type.Unknown()),
  subscriber: Type.Optional(Type.Unknown()),
});

const SELLER_AGE_MS = 3_600_000;

const SalesAnswer = Type.Object({
  success: Type.Boolean(),
  sales: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 1_000 })),
  next_page_key: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

const SellerAnswer = Type.Object({ success: Type.Boolean(), user: Type.Optional(Type.Unknown()) });

/** Ids become part of a path. */
const ID = /^[\w=-]{1,100}$/u;

/** Creates the client from the settings; null without an access token. */
export function openGumroadApi(
  { billing }: Pick<Config, 'billing'>,
  { gumroadAccessToken: accessToken }: Pick<Secrets, 'gumroadAccessToken'>,
  clock: Clock,
): GumroadApi | null {
  if (accessToken === null) return null;
  return createGumroadApi({ url: billing.gumroadApiUrl, accessToken, clock });
}

export function createGumroadApi({ accessToken, ...options }: GumroadApiOptions): GumroadApi {
  const api: ProviderApiOptions = {
    name: 'Gumroad',
    headers: { authorization: `Bearer ${accessToken}` },
    maxResponseBytes: MAX_RESPONSE_BYTES,
    ...options,
  };
  return {
    findSale: (saleId, signal) => find(api, 'sale', saleId, signal),
    findSubscriber: (subscriptionId, signal) => find(api, 'subscriber', subscriptionId, signal),
    listSales: (since, pageKey, signal) => listSales(api, since, pageKey, signal),
    findSeller: rememberFor(SELLER_AGE_MS, options.clock, (signal) => findSeller(api, signal)),
  };
}

async function listSales(
  api: ProviderApiOptions,
  since: Date,
  pageKey: string | null,
  signal?: AbortSignal,
): Promise<SalesPage> {
  const query = new URLSearchParams({ after: since.toISOString().slice(0, 10) });
  if (pageKey !== null) query.set('page_key', pageKey);
  const answer = await getJson(api, `/v2/sales?${query.toString()}`, SalesAnswer, signal);
  if (answer?.success !== true || answer.sales === undefined) throw invalidResponse(api);
  const nextPageKey = answer.next_page_key ?? null;
  // Otherwise the comparison would never end.
  if (nextPageKey !== null && nextPageKey === pageKey) throw invalidResponse(api);
  return { sales: answer.sales.map(readObject), nextPageKey };
}

async function findSeller(api: ProviderApiOptions, signal?: AbortSignal): Promise<Seller> {
  const answer = await getJson(api, '/v2/user', SellerAnswer, signal);
  const user = readObject(answer?.user);
  const seller = { accountId: readId(user['id']), email: readEmail(user['email']) };
  if (seller.accountId === null && seller.email === null) throw invalidResponse(api);
  return seller;
}

/** Returns the last result again until it is too old; a failure is not remembered. */
function rememberFor<Value>(
  maxAgeMs: number,
  clock: Clock,
  read: (signal?: AbortSignal) => Promise<Value>,
): (signal?: AbortSignal) => Promise<Value> {
  let last: { readonly value: Value; readonly readAt: number } | null = null;
  return async (signal) => {
    const now = clock.now().getTime();
    if (last === null || Math.abs(now - last.readAt) >= maxAgeMs) {
      last = { value: await read(signal), readAt: now };
    }
    return last.value;
  };
}

/** Gumroad answers an unknown id with 404, or with 200 and `success: false`. */
async function find(
  api: ProviderApiOptions,
  kind: 'sale' | 'subscriber',
  id: string,
  signal?: AbortSignal,
): Promise<JsonObject | null> {
  if (!ID.test(id)) return null;
  const answer = await getJson(api, `/v2/${kind}s/${encodeURIComponent(id)}`, Answer, signal);
  if (answer === null || !answer.success) return null;
  const found = answer[kind];
  if (!isObject(found) || found['id'] !== id) throw invalidResponse(api);
  return found;
}
