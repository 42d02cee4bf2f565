/**
 * Pings of Gumroad, and a server that answers as its API does, with the fields that the service reads and some that it does
 * not. Options override any field of the object.
 */
import {
  answerJson,
  openPaddleApiStub,
  startPaddleApiStub,
  type PaddleApiStub,
  type StubAnswer,
} from './paddle-api-stub.ts';
import { TEST_START } from '../test-clock.ts';

type Fields = Readonly<Record<string, unknown>>;

export const GUMROAD_PRODUCT = 'SDGgCnivv6gTTHfVRfUBxQ==';

/** The id of the seller's account, as sales contain it of their buyers. */
export const GUMROAD_SELLER = '5530311507811';

/** A sale as the API returns it. */
export function gumroadSale(fields: Fields = {}): Fields {
  return {
    id: 'FO8TXN-dbxYaBdahG97Y-Q==',
    email: 'account@example.com',
    seller_id: 'seller==',
    timestamp: 'about 1 hour ago',
    created_at: TEST_START.toISOString(),
    product_name: 'Studio',
    price: 1_999,
    gumroad_fee: 250,
    currency_symbol: '€',
    amount_refundable_in_currency: '17.99',
    product_id: GUMROAD_PRODUCT,
    product_permalink: 'QMGY',
    refunded: false,
    partially_refunded: false,
    chargedback: false,
    purchase_email: 'ann@example.com',
    full_name: 'Ann Example',
    street_address: '1 Hidden Street',
    country_iso2: 'DE',
    order_id: 524_459_995,
    purchaser_id: '8624612371865',
    disputed: false,
    dispute_won: false,
    is_gift_sender_purchase: false,
    is_gift_receiver_purchase: false,
    license_key: '85DB562A-C11D4B06-A2335A6B-8C079166',
    quantity: 1,
    ...fields,
  };
}

/** The sale of a membership as the API returns it. */
export function gumroadMembershipSale(fields: Fields = {}): Fields {
  return gumroadSale({
    variants: { Tier: 'Pro' },
    subscription_id: 'sub-one==',
    subscription_duration: 'monthly',
    cancelled: false,
    dead: false,
    ended: false,
    recurring_charge: false,
    ...fields,
  });
}

/** A membership as the API returns it. */
export function gumroadSubscriber(fields: Fields = {}): Fields {
  return {
    id: 'sub-one==',
    product_id: GUMROAD_PRODUCT,
    user_email: 'ann@example.com',
    purchase_ids: ['FO8TXN-dbxYaBdahG97Y-Q=='],
    created_at: TEST_START.toISOString(),
    user_requested_cancellation_at: null,
    charge_occurrence_count: null,
    recurrence: 'monthly',
    cancelled_at: null,
    ended_at: null,
    failed_at: null,
    free_trial_ends_at: null,
    status: 'alive',
    ...fields,
  };
}

/** The fields of a ping about a sale. */
export function gumroadPing(
  resource: string,
  sale: Fields = gumroadSale(),
  fields: Record<string, string> = {},
): Record<string, string> {
  const subscriptionId = sale['subscription_id'];
  return {
    seller_id: 'seller==',
    product_id: String(sale['product_id']),
    email: String(sale['purchase_email']),
    price: String(sale['price']),
    currency: 'eur',
    quantity: String(sale['quantity']),
    'card[visual]': '**** **** **** 4242',
    order_number: String(sale['order_id']),
    sale_id: String(sale['id']),
    sale_timestamp: String(sale['created_at']),
    ...(typeof subscriptionId === 'string' ? { subscription_id: subscriptionId } : {}),
    refunded: String(sale['refunded']),
    disputed: String(sale['disputed']),
    dispute_won: String(sale['dispute_won']),
    resource_name: resource,
    ...fields,
  };
}

/** The fields of a ping about a membership. */
export function gumroadMembershipPing(
  resource: string,
  fields: Record<string, string> = {},
): Record<string, string> {
  return {
    subscription_id: 'sub-one==',
    product_id: GUMROAD_PRODUCT,
    user_email: 'ann@example.com',
    'purchase_ids[]': 'FO8TXN-dbxYaBdahG97Y-Q==',
    created_at: TEST_START.toISOString(),
    recurrence: 'monthly',
    resource_name: resource,
    ...fields,
  };
}

/** A server that answers as Gumroad's API does. */
export interface GumroadApiStub {
  readonly url: string;
  readonly requests: PaddleApiStub['requests'];
  /** What the seller's account has; changed by a test. */
  sales: readonly Fields[];
  subscribers: readonly Fields[];
  seller: Fields;
  /** Answers the next requests instead. */
  failure: StubAnswer | null;
}

/** Starts a stub, which stops at the end of the test file. @param token of the seller's account */
export async function startGumroadApiStub(token: string): Promise<GumroadApiStub> {
  return answerAsGumroad(await startPaddleApiStub(), token);
}

/** Starts a stub for a program that is not a test. @param resources stops it */
export async function openGumroadApiStub(
  token: string,
  resources: AsyncDisposableStack,
): Promise<GumroadApiStub> {
  return answerAsGumroad(await openPaddleApiStub(resources), token);
}

function answerAsGumroad(server: PaddleApiStub, token: string): GumroadApiStub {
  const { url, requests } = server;
  const seller = { id: GUMROAD_SELLER, user_id: 'seller==', email: 'seller@example.com' };
  const stub: GumroadApiStub = {
    url,
    requests,
    sales: [],
    subscribers: [],
    seller,
    failure: null,
  };
  server.answer = (request, response) => {
    if (stub.failure !== null) return stub.failure(request, response);
    if (request.headers.authorization !== `Bearer ${token}`) {
      return answerJson(401, '{}')(request, response);
    }
    answerObject(stub, decodeURIComponent(request.url ?? ''))(request, response);
  };
  return stub;
}

const SALES_PER_PAGE = 10;

/** Newest first, as Gumroad lists them. */
function answerSales(sales: readonly Fields[], path: string): StubAnswer {
  const query = new URLSearchParams(path.slice(path.indexOf('?')));
  const listed = sales
    .filter((sale) => String(sale['created_at']) >= (query.get('after') ?? ''))
    .toSorted((a, b) => (String(a['created_at']) < String(b['created_at']) ? 1 : -1));
  const from = Number(query.get('page_key') ?? '0');
  const next = from + SALES_PER_PAGE;
  return answerJson(200, {
    success: true,
    sales: listed.slice(from, next),
    ...(next < listed.length ? { next_page_key: String(next) } : {}),
  });
}

/** An unknown object is answered with 200, and `success: false`. */
function answerObject({ sales, subscribers, seller }: GumroadApiStub, path: string): StubAnswer {
  if (path === '/v2/user') return answerJson(200, { success: true, user: seller });
  if (path.startsWith('/v2/sales?')) return answerSales(sales, path);
  const [, version, kind, id] = path.split('/');
  const name = kind === 'sales' ? 'sale' : 'subscriber';
  const found = (kind === 'sales' ? sales : subscribers).find((each) => each['id'] === id);
  if (version !== 'v2') return answerJson(404, '{}');
  return found === undefined
    ? answerJson(200, { success: false, message: `The ${name} was not found.` })
    : answerJson(200, { success: true, [name]: found });
}
