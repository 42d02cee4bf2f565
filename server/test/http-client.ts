import { randomInt } from 'node:crypto';

import { assertConforms, type JudgedAnswer } from './conformance.ts';

/** An answer of the service, its body read as JSON where it is JSON. */
export interface Answer extends JudgedAnswer {
  readonly text: string;
}

export type RequestHeaders = Readonly<Record<string, string>>;

export interface HttpClient {
  /** Posts JSON; a text is sent as it is. */
  post(path: string, body: unknown, headers?: RequestHeaders): Promise<Answer>;
  get(path: string, headers?: RequestHeaders): Promise<Answer>;
  send(method: string, path: string, init?: RequestInit): Promise<Answer>;
}

/**
 * A client of a service. Unless a test says otherwise each request comes from an address of its own, so that no test is
 * slowed down for the guesses of another. Every answer is held against the interface document.
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

/** An address of the network that is kept for examples and tests (RFC 2544). */
export function anyAddress(): string {
  return `198.${18 + randomInt(2)}.${randomInt(256)}.${randomInt(1, 255)}`;
}
