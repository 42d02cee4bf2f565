/**
 * Stand-ins for the APIs of payment providers: they answer lists as the published references of the providers show them, in
 * small pages.
 */
import type { IncomingMessage } from 'node:http';

import { answerJson, type StubAnswer } from './paddle-api-stub.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Objects with an id, as a list contains them. */
export interface Listed extends JsonObject {
  readonly id: string;
}

/** In a page of a stand-in, whatever the request asks for. */
const PAGE = 2;

/** The lists of an account by their paths, and its credentials. */
interface Account {
  readonly authorization: string;
}

/** Answers only requests with the credentials. */
function withCredentials(
  { authorization }: Account,
  answer: (url: URL) => { readonly status: number; readonly body: unknown },
): StubAnswer {
  return (request, response) => {
    const allowed = request.headers.authorization === authorization;
    const { status, body } = allowed
      ? answer(urlOf(request))
      : { status: 401, body: { error: { message: 'Invalid API key' } } };
    answerJson(status, body)(request, response);
  };
}

function urlOf(request: IncomingMessage): URL {
  return new URL(request.url ?? '', 'http://localhost');
}

const NOT_FOUND = { status: 404, body: { error: { message: 'Not found' } } };

/** Stripe: `{ object: 'list', data, has_more }`, continued with `starting_after`. Customers are expanded. */
export function answerStripe(
  account: Account & {
    readonly subscriptions: readonly Listed[];
    readonly customers: readonly Listed[];
    readonly invoices?: readonly Listed[];
  },
): StubAnswer {
  return withCredentials(account, (url) => {
    const [, version, kind, id] = url.pathname.split('/');
    if (version !== 'v1') return NOT_FOUND;
    if (kind === 'invoices') return one(account.invoices ?? [], id);
    if (kind !== 'subscriptions' || url.searchParams.get('expand[]') !== 'data.customer') {
      return NOT_FOUND;
    }
    const running = account.subscriptions.filter(({ status }) => status !== 'canceled');
    const data = pageAfter(running, url.searchParams.get('starting_after'));
    const expanded = data.map((subscription) => ({
      ...subscription,
      customer: account.customers.find((each) => each.id === subscription['customer']),
    }));
    const hasMore = data.at(-1) !== running.at(-1);
    return {
      status: 200,
      body: { object: 'list', url: '/v1/subscriptions', has_more: hasMore, data: expanded },
    };
  });
}

/** Paddle Billing: `{ data, meta: { pagination } }`, continued with `after`. */
export function answerPaddle(
  account: Account & {
    readonly subscriptions: readonly Listed[];
    readonly customers: readonly Listed[];
  },
): StubAnswer {
  return withCredentials(account, ({ pathname, searchParams }) => {
    const statuses = new Set((searchParams.get('status') ?? '').split(','));
    const ids = searchParams.get('id')?.split(',');
    if (pathname === '/customers') {
      const data = account.customers.filter(({ id }) => ids?.includes(id) ?? true);
      return { status: 200, body: { data, meta: writePagination(data, false) } };
    }
    if (pathname !== '/subscriptions') return NOT_FOUND;
    const listed = account.subscriptions.filter(({ status }) => statuses.has(String(status)));
    const data = pageAfter(listed, searchParams.get('after'));
    const hasMore = data.at(-1) !== listed.at(-1);
    return { status: 200, body: { data, meta: writePagination(data, hasMore) } };
  });
}

function writePagination(data: readonly unknown[], hasMore: boolean): JsonObject {
  return {
    request_id: 'b15ec92e-8688-40d4-a04d-f44cbec93355',
    pagination: {
      per_page: PAGE,
      next: 'https://api.paddle.com/subscriptions?after=sub_1',
      has_more: hasMore,
      estimated_total: data.length,
    },
  };
}

/** Lemon Squeezy (JSON:API): pages are numbered, and filters select by attributes. */
export function answerLemonSqueezy(
  account: Account & {
    readonly lists: Readonly<Record<string, readonly LemonSqueezyResource[]>>;
    /** Orders and their items, as `include` adds them. */
    readonly included?: readonly LemonSqueezyResource[];
  },
): StubAnswer {
  return withCredentials(account, ({ pathname, searchParams }) => {
    const all = account.lists[pathname.replace('/v1/', '')];
    if (all === undefined) return NOT_FOUND;
    const filters = Array.from(searchParams).flatMap(([name, value]) => {
      const field = /^filter\[(?<field>\w+)\]$/u.exec(name)?.groups?.['field'];
      return field === undefined ? [] : [[field, value] as const];
    });
    const listed = all.filter(({ attributes }) =>
      filters.every(([field, value]) => String(attributes[field]) === value),
    );
    const page = Number(searchParams.get('page[number]') ?? 1);
    const data = listed.slice((page - 1) * PAGE, page * PAGE);
    const lastPage = Math.max(1, Math.ceil(listed.length / PAGE));
    const isIncluded = searchParams.get('include') === 'order,order-item';
    return {
      status: 200,
      body: {
        meta: {
          page: { currentPage: page, from: 1, lastPage, perPage: PAGE, total: listed.length },
        },
        jsonapi: { version: '1.0' },
        links: { first: 'https://api.lemonsqueezy.com/v1/…' },
        data,
        ...(isIncluded ? { included: account.included ?? [] } : {}),
      },
    };
  });
}

/** An object of Lemon Squeezy. */
export interface LemonSqueezyResource {
  readonly type: string;
  readonly id: string;
  readonly attributes: JsonObject;
}

/** Polar: `{ items, pagination: { total_count, max_page } }`; only a single license key has its activations. */
export function answerPolar(
  account: Account & {
    readonly lists: Readonly<Record<string, readonly Listed[]>>;
    readonly activations?: Readonly<Record<string, readonly JsonObject[]>>;
  },
): StubAnswer {
  return withCredentials(account, ({ pathname, searchParams }) => {
    const [, , kind = '', id] = pathname.split('/');
    const all = account.lists[kind];
    if (all === undefined) return NOT_FOUND;
    if (id !== '' && id !== undefined) {
      const { status, body } = one(all, id);
      return { status, body: { ...body, activations: account.activations?.[id] ?? [] } };
    }
    const page = Number(searchParams.get('page') ?? 1);
    const items = all.slice((page - 1) * PAGE, page * PAGE);
    const maxPage = Math.ceil(all.length / PAGE);
    const pagination = { total_count: all.length, max_page: maxPage };
    return { status: 200, body: { items, pagination } };
  });
}

/** FastSpring: a list has ids and the number of the next page; objects are requested by their ids. */
export function answerFastSpring(
  account: Account & {
    readonly subscriptions: readonly Listed[];
    readonly accounts: readonly Listed[];
  },
): StubAnswer {
  return withCredentials(account, ({ pathname, searchParams }) => {
    const [, kind, ids] = pathname.split('/');
    if (kind === 'accounts') {
      const found = account.accounts.filter(({ id }) => id === ids);
      const accounts = found.map((each) => ({ action: 'account.get', result: 'success', ...each }));
      return { status: 200, body: { accounts } };
    }
    if (kind !== 'subscriptions') return NOT_FOUND;
    if (ids !== undefined) {
      const wanted = new Set(ids.split(','));
      const subscriptions = account.subscriptions.filter(({ id }) => wanted.has(id));
      return { status: 200, body: wanted.size === 1 ? subscriptions[0] : { subscriptions } };
    }
    const page = Number(searchParams.get('page') ?? 1);
    const listed = account.subscriptions.slice((page - 1) * PAGE, page * PAGE);
    const isLast = page * PAGE >= account.subscriptions.length;
    const body = {
      action: 'subscription.getall',
      result: 'success',
      page,
      nextPage: isLast ? null : page + 1,
      subscriptions: listed.map(({ id }) => id),
    };
    return { status: 200, body };
  });
}

function pageAfter(all: readonly Listed[], after: string | null): readonly Listed[] {
  const start = all.findIndex(({ id }) => id === after) + 1;
  return all.slice(start, start + PAGE);
}

function one(
  all: readonly Listed[],
  id: string | undefined,
): { readonly status: number; readonly body: JsonObject } {
  const found = all.find((each) => each.id === id);
  return found === undefined ? NOT_FOUND : { status: 200, body: found };
}
