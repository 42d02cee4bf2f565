/** Requests to the API of a payment provider: JSON, within limits of time and size, and never to another host. */
import { Type, type Static, type TSchema } from 'typebox';
import { Check } from 'typebox/schema';

import type { Clock } from '#server/clock.ts';
import { readRetryAfter } from '#server/lib/retry-delay.ts';

/** An API and the account that reads it. */
export interface ProviderApiOptions {
  /** The provider's name in messages. */
  readonly name: string;
  /** Without a trailing slash. */
  readonly url: string;
  /** The headers of each request, with the credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Of a request, including its response. Default: 15 s. */
  readonly timeoutMs?: number;
  /** Default: 4 MiB. */
  readonly maxResponseBytes?: number;
}

/**
 * A failed request: refused, not answered, or with an invalid response. The message contains neither key nor address.
 */
export class ProviderApiError extends Error {
  /** The delay that a rate limit requires; null for other errors. */
  readonly retryAfterSeconds: number | null;
  /** The status of the response; null without a usable response. */
  readonly status: number | null;
  /** The provider's own words for a refusal, without its keys; null: it gave none. */
  readonly reason: string | null;

  constructor(
    message: string,
    {
      retryAfterSeconds = null,
      status = null,
      reason = null,
      ...options
    }: ErrorOptions & {
      readonly retryAfterSeconds?: number | null;
      readonly status?: number | null;
      readonly reason?: string | null;
    } = {},
  ) {
    super(message, options);
    this.name = 'ProviderApiError';
    this.retryAfterSeconds = retryAfterSeconds;
    this.status = status;
    this.reason = reason;
  }
}

const TIMEOUT_MS = 15_000;
/** A page of some hundred objects of some kilobytes each. */
const MAX_RESPONSE_BYTES = 4 * 1_048_576;
const MAX_RETRY_AFTER_SECONDS = 3_600;
const DEFAULT_RETRY_AFTER_SECONDS = 60;

/**
 * Requests a path and returns its validated response; null for 404.
 * @throws ProviderApiError
 */
export async function getJson<Schema extends TSchema>(
  api: ProviderApiOptions,
  path: string,
  schema: Schema,
  signal?: AbortSignal,
): Promise<Static<Schema> | null> {
  const { name, url, headers, clock, timeoutMs = TIMEOUT_MS } = api;
  const deadline = AbortSignal.timeout(timeoutMs);
  const request = {
    headers: { accept: 'application/json', ...headers },
    // The credentials must not be sent to another host.
    redirect: 'error',
    signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
  } as const;
  const { response, body } = await fetchText(api, `${url}${path}`, request);
  const { status } = response;
  if (status === 404) return null;
  if (status === 429) {
    const retryAfterSeconds = readRetryAfterSeconds(response, clock.now());
    const message = `${name} limits the rate of requests (429)`;
    throw new ProviderApiError(message, { retryAfterSeconds, status });
  }
  if (!response.ok) {
    const reason = readReason(body);
    throw new ProviderApiError(`${name} answers ${status}`, { status, reason });
  }
  return parse(api, body, schema);
}

async function fetchText(
  api: ProviderApiOptions,
  url: string,
  request: RequestInit,
): Promise<{ response: Response; body: string }> {
  try {
    const response = await fetch(url, request);
    return { response, body: await readLimited(api, response) };
  } catch (error) {
    if (error instanceof ProviderApiError) throw error;
    throw new ProviderApiError(`${api.name} cannot be reached`, { cause: error });
  }
}

async function readLimited(api: ProviderApiOptions, response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > (api.maxResponseBytes ?? MAX_RESPONSE_BYTES)) throw invalidResponse(api);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse<Schema extends TSchema>(
  api: ProviderApiOptions,
  body: string,
  schema: Schema,
): Static<Schema> {
  try {
    const response: unknown = JSON.parse(body);
    if (Check(schema, response)) return response;
  } catch {
    // Reported below, like JSON that does not match the schema.
  }
  throw invalidResponse(api);
}

const MAX_REASON_CHARACTERS = 300;

const Refusal = Type.Object({ error: Type.Object({ message: Type.String() }) });

/** Reads why a provider refuses a request. Stripe masks keys; what looks like one is removed all the same. */
function readReason(body: string): string | null {
  try {
    const refusal: unknown = JSON.parse(body);
    if (!Check(Refusal, refusal)) return null;
    const { message } = refusal.error;
    const text = message
      .replaceAll(/\b[rs]k_\S+/gu, '[key]')
      .replaceAll('\0', '')
      .trim();
    return text.slice(0, MAX_REASON_CHARACTERS);
  } catch {
    return null;
  }
}

/** The error about a response that does not have the documented form. */
export function invalidResponse({ name }: Pick<ProviderApiOptions, 'name'>): ProviderApiError {
  return new ProviderApiError(`${name} sent an invalid response`);
}

/** At least a second, at most an hour; a minute by default. */
function readRetryAfterSeconds({ headers }: Response, now: Date): number {
  const delayMs = readRetryAfter(headers.get('retry-after'), now);
  if (delayMs === null) return DEFAULT_RETRY_AFTER_SECONDS;
  return Math.min(Math.max(Math.ceil(delayMs / 1_000), 1), MAX_RETRY_AFTER_SECONDS);
}
