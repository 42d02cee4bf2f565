import type { IncomingMessage } from 'node:http';

import { readRetryAfter } from '#server/lib/retry-delay.ts';
import { version } from '#server/lib/version.ts';

import { signMessage, type SignableMessage } from './rules/sign-message.ts';
import type { WebhookClient } from './webhook-client.ts';

/** The outcome of a request to an endpoint. */
export interface SendOutcome {
  /** Whether the response was 2xx, in time. */
  readonly delivered: boolean;
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Why it failed, for people; never contains the response. */
  readonly error: string | null;
  /** The beginning of the response's body, for operators; null without one. Never logged. */
  readonly answer: string | null;
  /** The Retry-After of the receiver. */
  readonly retryAfterMs: number | null;
}

/** For name look-up, TLS and response. */
export const SEND_TIMEOUT_MS = 10_000;

/** The body is read up to this limit, so that the connection can be reused. */
const MAX_BODY_BYTES = 64 * 1024;

/** Enough for the message of an error. */
const MAX_ANSWER_BYTES = 1_000;

const MAX_ERROR_CHARACTERS = 200;

interface SendOptions {
  /** For the whole exchange. */
  readonly timeoutMs?: number | undefined;
  /** Aborts the exchange. */
  readonly stopping?: AbortSignal | undefined;
}

/**
 * Sends a message once. Redirects are not followed: a receiver that moved must be registered again.
 * @param secrets each of them signs the message
 */
export async function sendMessage(
  client: WebhookClient,
  url: string,
  message: SignableMessage,
  secrets: readonly string[],
  sentAt: Date,
  { timeoutMs = SEND_TIMEOUT_MS, stopping }: SendOptions = {},
): Promise<SendOutcome> {
  const startedAt = performance.now();
  const durationMs = (): number => Math.round(performance.now() - startedAt);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await client.post(new URL(url), {
      headers: {
        'content-type': 'application/json',
        'user-agent': `latchkey/${version}`,
        ...signMessage(message, secrets, sentAt),
      },
      body: message.payload,
      signal: stopping === undefined ? timeout : AbortSignal.any([timeout, stopping]),
    });
    const answer = await readAnswer(response);
    const { statusCode: status = 0, headers } = response;
    const delivered = status >= 200 && status < 300;
    return {
      delivered,
      status,
      durationMs: durationMs(),
      error: delivered ? null : `answered ${status}`,
      answer,
      retryAfterMs: readRetryAfter(headers['retry-after'] ?? null, sentAt),
    };
  } catch (error) {
    const failure = { delivered: false, status: null, answer: null, retryAfterMs: null };
    const reason = timeout.aborted ? `no answer within ${timeoutMs / 1_000} s` : reasonOf(error);
    return { ...failure, durationMs: durationMs(), error: reason.slice(0, MAX_ERROR_CHARACTERS) };
  }
}

/** Reads the body and returns its beginning; errors are ignored, because the status alone counts. */
async function readAnswer(response: IncomingMessage): Promise<string | null> {
  const start: Uint8Array[] = [];
  try {
    let total = 0;
    for await (const chunk of response) {
      if (!(chunk instanceof Uint8Array)) break;
      if (total < MAX_ANSWER_BYTES) start.push(chunk.subarray(0, MAX_ANSWER_BYTES - total));
      total += chunk.byteLength;
      if (total > MAX_BODY_BYTES) break;
    }
  } catch {
    // The status is known.
  }
  return toAnswer(start);
}

/** Decodes the beginning of a body, whatever its encoding: PostgreSQL stores no U+0000 and no invalid UTF-8. */
function toAnswer(start: readonly Uint8Array[]): string | null {
  const text = Buffer.concat(start).toString('utf8').replaceAll('\0', '\uFFFD');
  return text === '' ? null : text;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error.message === '' ? error.name : error.message;
}
