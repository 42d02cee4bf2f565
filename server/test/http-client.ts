import { randomInt } from 'node:crypto';

import { assertConforms, type CheckedAnswer } from './conformance.ts';

/** An answer of the service, with a parsed JSON body. */
export interface Answer extends CheckedAnswer {
  readonly text: string;
}

export type RequestHeaders = Readonly<Record<string, string>>;

export interface HttpClient {
  /** Posts JSON; a text is sent verbatim. */
  post(path: string, body: unknown, headers?: RequestHeaders): Promise<Answer>;
  get(path: string, headers?: RequestHeaders): Promise<Answer>;
  send(method: string, path: string, init?: RequestInit): Promise<Answer>;
}

/**
 * Creates a client of a service. By default each request has another address, so that guesses of one test do not pause
 * another. Every answer is checked against the interface document.
 */
export function createHttpClient(baseUrl: string): HttpClient {
  async function send(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const url = baseUrl + path;
    const headers = new Headers(init.headers);
    if (!headers.has('x-forwarded-for')) headers.set('x-forwarded-for', anyAddress());
    const response = await fetch(url, { ...init, method, headers });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const body: unknown = isJson && text !== '' ? JSON.parse(text) : text;
    const answer = { status: response.status, headers: response.headers, text, body };
    if (method !== 'OPTIONS' && method !== 'HEAD') assertConforms(method, url, answer);
    return answer;
  }
  return {
    send,
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: (path, body, headers = {}) =>
      send('POST', path, {
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  };
}

/** The addresses of 198.18.0.0/15, the network for benchmarks (RFC 2544), except those that end with 0 or 255. */
const ADDRESSES = 2 * 256 * 254;

let used = randomInt(ADDRESSES);

/** Returns an address that this process has not used before; it begins anywhere, because others may use the same service. */
export function anyAddress(): string {
  used = (used + 1) % ADDRESSES;
  const [network, host] = [Math.floor(used / 254), (used % 254) + 1];
  return `198.${18 + (network >> 8)}.${network & 255}.${host}`;
}
