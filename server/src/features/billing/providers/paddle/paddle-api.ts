import { Type, type Static, type TSchema } from 'typebox';
import { Check } from 'typebox/schema';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';
import { readRetryAfter } from '#server/lib/retry-delay.ts';

import type { CustomerDetails } from '../../facts.ts';
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
   * @throws PaddleApiError
   */
  findCustomer(customerId: string, signal?: AbortSignal): Promise<CustomerDetails | null>;
  /**
   * Returns a page of the event log, in order; empty at its end.
   * @param after the last event of the previous page; null starts at the oldest event
   * @throws PaddleApiError
   */
  listEvents(after: string | null, signal?: AbortSignal): Promise<readonly LoggedEvent[]>;
}

/**
 * A failed request: refused, not answered, or with an invalid response. The message contains neither key nor address.
 */
export class PaddleApiError extends Error {
  /** The delay that a rate limit requires; null for other errors. */
  readonly retryAfterSeconds: number | null;

  constructor(message: string, retryAfterSeconds: number | null = null, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PaddleApiError';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const TIMEOUT_MS = 15_000;
/** A page of 100 events of some kilobytes each. */
const MAX_RESPONSE_BYTES = 4 * 1_048_576;
const MAX_RETRY_AFTER_SECONDS = 3_600;
const DEFAULT_RETRY_AFTER_SECONDS = 60;

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
  if (Number.isNaN(occurredAt.getTime())) throw invalidResponse();
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
  return {
    async findCustomer(customerId, signal) {
      // The id becomes part of a path.
      if (!/^[\w-]{1,200}$/u.test(customerId)) return null;
      const response = await getJson(options, `/customers/${customerId}`, CustomerResponse, signal);
      return response === null ? null : readCustomerDetails(response.data);
    },
    async listEvents(after, signal) {
      const query = new URLSearchParams({ order_by: 'id[ASC]', per_page: '100' });
      if (after !== null) query.set('after', after);
      const response = await getJson(
        options,
        `/events?${query.toString()}`,
        EventsResponse,
        signal,
      );
      // A wrong URL, not the end of the log.
      if (response === null) throw new PaddleApiError('Paddle answers 404');
      return response.data.map(toLoggedEvent);
    },
  };
}

/** Returns a validated response; null for 404. */
async function getJson<Schema extends TSchema>(
  { url, apiKey, clock, timeoutMs = TIMEOUT_MS }: PaddleApiOptions,
  path: string,
  schema: Schema,
  signal?: AbortSignal,
): Promise<Static<Schema> | null> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const request = {
    headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json' },
    // The API key must not be sent to another host.
    redirect: 'error',
    signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
  } as const;
  const { response, body } = await fetchText(`${url}${path}`, request);
  if (response.status === 404) return null;
  if (response.status === 429) {
    throw new PaddleApiError(
      'Paddle limits the rate of requests (429)',
      readRetryAfterSeconds(response, clock.now()),
    );
  }
  if (!response.ok) throw new PaddleApiError(`Paddle answers ${response.status}`);
  return parse(body, schema);
}

async function fetchText(
  url: string,
  request: RequestInit,
): Promise<{ response: Response; body: string }> {
  try {
    const response = await fetch(url, request);
    return { response, body: await readLimited(response) };
  } catch (error) {
    if (error instanceof PaddleApiError) throw error;
    throw new PaddleApiError('Paddle cannot be reached', null, { cause: error });
  }
}

async function readLimited(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES) throw invalidResponse();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse<Schema extends TSchema>(body: string, schema: Schema): Static<Schema> {
  try {
    const response: unknown = JSON.parse(body);
    if (Check(schema, response)) return response;
  } catch {
    // Reported below, like JSON that does not match the schema.
  }
  throw invalidResponse();
}

function invalidResponse(): PaddleApiError {
  return new PaddleApiError('Paddle sent an invalid response');
}

/** At least a second, at most an hour; a minute by default. */
function readRetryAfterSeconds({ headers }: Response, now: Date): number {
  const delayMs = readRetryAfter(headers.get('retry-after'), now);
  if (delayMs === null) return DEFAULT_RETRY_AFTER_SECONDS;
  return Math.min(Math.max(Math.ceil(delayMs / 1_000), 1), MAX_RETRY_AFTER_SECONDS);
}
