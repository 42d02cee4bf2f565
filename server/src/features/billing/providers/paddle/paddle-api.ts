import { Type, type Static, type TSchema } from 'typebox';
import { Check } from 'typebox/schema';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';
import { readRetryAfter } from '#server/lib/retry-after.ts';

import type { CustomerDetails } from '../../facts.ts';
import { readCustomerDetails } from './fields.ts';

interface PaddleApiOptions {
  /** Without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly clock: Clock;
  /** For a whole request. */
  readonly timeoutMs?: number;
}

/** An event as the provider's log has it, as far as it is looked at here. */
export interface LoggedEvent {
  readonly eventId: string;
  readonly type: string;
  readonly occurredAt: Date;
  /** The event as its webhook would have carried it. */
  readonly body: object;
}

/** Reads from Paddle what its webhooks do not carry. */
export interface PaddleApi {
  /**
   * Asks for a customer as it is now; null when there is none of that id.
   * @throws PaddleApiError when Paddle refuses, cannot be reached or answers something else
   */
  findCustomer(customerId: string, signal?: AbortSignal): Promise<CustomerDetails | null>;
  /**
   * A page of the events that Paddle has told of, or tried to, in their order; empty at the end of its log.
   * @param after the event behind which the page begins; null: the oldest one that Paddle still has
   * @throws PaddleApiError when Paddle refuses, cannot be reached or answers something else
   */
  listEvents(after: string | null, signal?: AbortSignal): Promise<readonly LoggedEvent[]>;
}

/** Why Paddle did not give what it was asked for. The message holds neither key nor address. */
export class PaddleApiError extends Error {
  /** When Paddle wants to be asked again, in seconds from now; null when it did not say. */
  readonly retryAfterSeconds: number | null;

  constructor(message: string, retryAfterSeconds: number | null = null, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PaddleApiError';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const TIMEOUT_MS = 15_000;
/** A page of 100 events of some kilobytes each. */
const MAX_ANSWER_BYTES = 4 * 1_048_576;
const MAX_RETRY_AFTER_SECONDS = 3_600;
const DEFAULT_RETRY_AFTER_SECONDS = 60;

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));

const CustomerAnswer = Type.Object({
  data: Type.Object({ id: Type.String(), email: Text, name: Text, locale: Text }),
});

const EventsAnswer = Type.Object({
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

function toLoggedEvent(event: Static<typeof EventsAnswer>['data'][number]): LoggedEvent {
  const occurredAt = new Date(event.occurred_at);
  if (Number.isNaN(occurredAt.getTime())) throw unexpectedResponse();
  return { eventId: event.event_id, type: event.event_type, occurredAt, body: event };
}

/** Opens the API as the settings say; null without a key. */
export function openPaddleApi(
  { billing }: Pick<Config, 'billing'>,
  { paddleApiKey: apiKey }: Pick<Secrets, 'paddleApiKey'>,
  clock: Clock,
): PaddleApi | null {
  return apiKey === null ? null : createPaddleApi({ url: billing.paddleApiUrl, apiKey, clock });
}

/** Opens the API; nothing is asked yet. */
export function createPaddleApi(options: PaddleApiOptions): PaddleApi {
  return {
    async findCustomer(customerId, signal) {
      // An id becomes part of a path: what is no id is nobody's.
      if (!/^[\w-]{1,200}$/u.test(customerId)) return null;
      const answer = await getJson(options, `/customers/${customerId}`, CustomerAnswer, signal);
      return answer === null ? null : readCustomerDetails(answer.data);
    },
    async listEvents(after, signal) {
      const query = new URLSearchParams({ order_by: 'id[ASC]', per_page: '100' });
      if (after !== null) query.set('after', after);
      const answer = await getJson(options, `/events?${query.toString()}`, EventsAnswer, signal);
      // No end of the log: there is no log at this address.
      if (answer === null) throw new PaddleApiError('Paddle answers 404');
      return answer.data.map(toLoggedEvent);
    },
  };
}

/** The answer to a question, held against its schema; null for 404. */
async function getJson<Schema extends TSchema>(
  { url, apiKey, clock, timeoutMs = TIMEOUT_MS }: PaddleApiOptions,
  path: string,
  schema: Schema,
  signal?: AbortSignal,
): Promise<Static<Schema> | null> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const request = {
    headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json' },
    // The key goes to this host and to no other.
    redirect: 'error',
    signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
  } as const;
  const { response, body } = await ask(`${url}${path}`, request);
  if (response.status === 404) return null;
  if (response.status === 429) {
    throw new PaddleApiError('Paddle asks for a pause (429)', readPause(response, clock.now()));
  }
  if (!response.ok) throw new PaddleApiError(`Paddle answers ${response.status}`);
  return parse(body, schema);
}

async function ask(
  address: string,
  request: RequestInit,
): Promise<{ response: Response; body: string }> {
  try {
    const response = await fetch(address, request);
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
    if (size > MAX_ANSWER_BYTES) throw unexpectedResponse();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse<Schema extends TSchema>(body: string, schema: Schema): Static<Schema> {
  try {
    const answer: unknown = JSON.parse(body);
    if (Check(schema, answer)) return answer;
  } catch {
    // It is told below, as what is JSON and not the answer.
  }
  throw unexpectedResponse();
}

function unexpectedResponse(): PaddleApiError {
  return new PaddleApiError('Paddle answers something that is not understood');
}

/** Within reason; what says nothing is a minute. */
function readPause({ headers }: Response, now: Date): number {
  const pauseMs = readRetryAfter(headers.get('retry-after'), now);
  if (pauseMs === null) return DEFAULT_RETRY_AFTER_SECONDS;
  return Math.min(Math.max(Math.ceil(pauseMs / 1_000), 1), MAX_RETRY_AFTER_SECONDS);
}
