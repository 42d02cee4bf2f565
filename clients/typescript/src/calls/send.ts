import { classify, noResponse, type Answer } from '../answers/answer.ts';
import { describeError, findCause } from '../answers/causes.ts';
import type { Fetch, FetchResponse } from './fetch.ts';

/** A request of a client. */
export interface Request {
  /** Its path below the service's address, escaped. */
  readonly path: string;
  /** What to send with POST; without it, GET is used. */
  readonly body?: object;
}

/** How requests are sent. */
export interface Sender {
  readonly fetch: Fetch;
  /** The address of the service, without a slash at its end. */
  readonly service: string;
  /** The time for one request as a whole. */
  readonly timeoutMs: number;
}

/** A larger answer is none of the service. */
const MAX_BYTES = 1_000_000;

/** Sends a request; a failure of any kind is no answer. */
export async function send(sender: Sender, request: Request): Promise<Answer> {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  // A fetch that was passed may ignore its signal.
  const late = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => {
      resolve(noResponse('timeout', `no answer in ${sender.timeoutMs} ms`));
      stop.abort();
    }, sender.timeoutMs);
  });
  try {
    return await Promise.race([late, exchange(sender, request, stop.signal)]);
  } finally {
    clearTimeout(timer);
  }
}

async function exchange(
  { fetch, service }: Sender,
  { path, body }: Request,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const response = await fetch(service + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal,
    });
    const text = await readText(response);
    if (text === null) return noResponse('portal', 'more than 1 MB');
    const { headers } = response;
    return classify({
      status: response.status,
      contentType: headers.get('content-type'),
      date: headers.get('date'),
      retryAfter: headers.get('retry-after'),
      text,
    });
  } catch (error) {
    return noResponse(findCause(error), describeError(error));
  }
}

/** Returns null if the text is too large. */
async function readText({ body }: FetchResponse): Promise<string | null> {
  if (body === null) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return text + decoder.decode();
    bytes += value.length;
    if (bytes > MAX_BYTES) {
      // The connection ends with the error, too.
      void reader.cancel().catch(() => undefined);
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}
