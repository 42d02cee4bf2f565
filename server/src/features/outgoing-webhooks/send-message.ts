import { readRetryAfter } from '#server/lib/retry-after.ts';
import { version } from '#server/lib/version.ts';

import { signMessage, type SignableMessage } from './rules/sign-message.ts';

/** What came of one request to an endpoint. */
export interface SendOutcome {
  /** A 2xx in time. */
  readonly delivered: boolean;
  /** Of HTTP; null when there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Why it failed, for people; never what the receiver wrote. */
  readonly error: string | null;
  /** The pause that the receiver asked for. */
  readonly retryAfterMs: number | null;
}

/** Until the answer's headers, name look-up and TLS included. */
export const SEND_TIMEOUT_MS = 10_000;

/** An answer's body is read so that the connection can be used again, and no further than this. */
const MAX_BODY_BYTES = 64 * 1024;

interface SendOptions {
  /** For the whole exchange. */
  readonly timeoutMs?: number | undefined;
  /** Cuts the exchange off. */
  readonly stopping?: AbortSignal | undefined;
}

/**
 * Sends a message once. Redirects are not followed: a receiver that moved is registered anew.
 * @param secrets what it is signed with
 */
export async function sendMessage(
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
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'user-agent': `latchkey/${version}`,
        ...signMessage(message, secrets, sentAt),
      },
      body: message.payload,
      signal: stopping === undefined ? timeout : AbortSignal.any([timeout, stopping]),
    });
    await drain(response);
    return {
      delivered: response.ok,
      status: response.status,
      durationMs: durationMs(),
      error: response.ok ? null : `answered ${response.status}`,
      retryAfterMs: readRetryAfter(response.headers.get('retry-after'), sentAt),
    };
  } catch (error) {
    const failure = { delivered: false, status: null, retryAfterMs: null };
    return { ...failure, durationMs: durationMs(), error: explain(error, timeoutMs) };
  }
}

/** The status was the answer; a body that is too long, too slow or cut off changes nothing about it. */
async function drain({ body }: Response): Promise<void> {
  if (body === null) return;
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  try {
    for (let total = 0; total <= MAX_BODY_BYTES;) {
      const { done, value } = await reader.read();
      if (done) return;
      total += value.byteLength;
    }
    await reader.cancel();
  } catch {
    // Nothing is missed by it.
  }
}

const MAX_ERROR_CHARACTERS = 200;

/** `fetch` says "fetch failed", and its cause says why. */
function explain(error: unknown, timeoutMs: number): string {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return `no answer within ${timeoutMs / 1_000} s`;
  }
  return reasonOf(error).slice(0, MAX_ERROR_CHARACTERS);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error.message === '' ? error.name : error.message;
}
