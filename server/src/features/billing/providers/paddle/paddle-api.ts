import { Type, type Static } from 'typebox';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';

import type { CustomerDetails } from '../../facts.ts';
import {
  getJson,
  invalidResponse,
  ProviderApiError,
  type ProviderApiOptions,
} from '../provider-api.ts';
import { readCustomerDetails } from './fields.ts';

interface PaddleApiOptions {
  /** Without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly clock: Clock;
  /** Of a request, including its response. */
  readonly timeoutMs?: number;
}

/** An event of Paddle's event log. */
export interface LoggedEvent {
  readonly eventId: string;
  readonly type: string;
  readonly occurredAt: Date;
  /** The body of its webhook. */
  readonly body: object;
}

/** A client of Paddle's API, for data that its webhooks lack. */
export interface PaddleApi {
  /**
   * Returns the current details of a customer, or null if there is none with that id.
   * @throws ProviderApiError
   */
  findCustomer(customerId: string, signal?: AbortSignal): Promise<CustomerDetails | null>;
  /**
   * Returns a page of the event log, in order; empty at its end.
   * @param after the last event of the previous page; null starts at the oldest event
   * @throws ProviderApiError
   */
  listEvents(after: string | null, signal?: AbortSignal): Promise<readonly LoggedEvent[]>;
}

const NAME = 'Paddle';

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));

const CustomerResponse = Type.Object({
  data: Type.Object({ id: Type.String(), email: Text, name: Text, locale: Text }),
});

const EventsResponse = Type.Object({
  data: Type.Array(
    Type.Object({
      event_id: Type.String(),
      event_type: Type.String(),
      occurred_at: Type.String(),
      data: Type.Object({}),
    }),
    { maxItems: 1_000 },
  ),
});

function toLoggedEvent(event: Static<typeof EventsResponse>['data'][number]): LoggedEvent {
  const occurredAt = new Date(event.occurred_at);
  if (Number.isNaN(occurredAt.getTime())) throw invalidResponse({ name: NAME });
  return { eventId: event.event_id, type: event.event_type, occurredAt, body: event };
}

/** Creates the client from the settings; null without an API key. */
export function openPaddleApi(
  { billing }: Pick<Config, 'billing'>,
  { paddleApiKey: apiKey }: Pick<Secrets, 'paddleApiKey'>,
  clock: Clock,
): PaddleApi | null {
  return apiKey === null ? null : createPaddleApi({ url: billing.paddleApiUrl, apiKey, clock });
}

export function createPaddleApi(options: PaddleApiOptions): PaddleApi {
  const { apiKey, ...address } = options;
  const api: ProviderApiOptions = {
    name: NAME,
    headers: { authorization: `Bearer ${apiKey}` },
    ...address,
  };
  return {
    async findCustomer(customerId, signal) {
      // The id becomes part of a path.
      if (!/^[\w-]{1,200}$/u.test(customerId)) return null;
      const response = await getJson(api, `/customers/${customerId}`, CustomerResponse, signal);
      return response === null ? null : readCustomerDetails(response.data);
    },
    async listEvents(after, signal) {
      const query = new URLSearchParams({ order_by: 'id[ASC]', per_page: '100' });
      if (after !== null) query.set('after', after);
      const response = await getJson(api, `/events?${query.toString()}`, EventsResponse, signal);
      // A wrong URL, not the end of the log.
      if (response === null) throw new ProviderApiError('Paddle answers 404');
      return response.data.map(toLoggedEvent);
    },
  };
}
