/** A `fetch` that answers as a test wants, without a network. */
import assert from 'node:assert/strict';

import type { Fetch } from '../src/calls/fetch.ts';
import type { JsonObject } from '../src/json.ts';
import { isObject, parseJson } from '../src/json.ts';

/** A request that a client sent. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly body: JsonObject;
}

/** Answers a request; an error is thrown as `fetch` throws it. */
export type Script = (request: SentRequest) => Response | Error | Promise<Response>;

/** What a client asked, and how to answer it. */
export interface ScriptedService {
  readonly fetch: Fetch;
  readonly requests: SentRequest[];
  /** Replaces the script. */
  answer(script: Script): void;
}

/** Creates a service that cannot be reached until a script is set. */
export function createScriptedService(): ScriptedService {
  const requests: SentRequest[] = [];
  let script: Script = connectionRefused;
  return {
    requests,
    answer(next) {
      script = next;
    },
    async fetch(url, { method, body, redirect }) {
      assert.equal(redirect, 'manual');
      const parsed = parseJson(body ?? '{}');
      const request = {
        method,
        path: new URL(url).pathname,
        body: isObject(parsed) ? parsed : {},
      };
      requests.push(request);
      const answer = await script(request);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

/** The error of `fetch` in Node.js when nothing listens. */
export function connectionRefused(): Error {
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  return new TypeError('fetch failed', { cause });
}

/** An answer of the service. @param date null: without a header `Date` */
export function json(body: unknown, status = 200, date: number | null = null): Response {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (date !== null) headers['date'] = new Date(date).toUTCString();
  return new Response(JSON.stringify(body), { status, headers });
}

/** A refusal of the service (RFC 9457). */
export function problem(status: number, code: string, content: object = {}): Response {
  const body = { type: `/docs/errors#${code}`, title: 'Any', status, code, ...content };
  const headers = { 'content-type': 'application/problem+json' };
  return new Response(JSON.stringify(body), { status, headers });
}

/** A page of something between. */
export function page(status = 200): Response {
  const headers = { 'content-type': 'text/html' };
  return new Response('<html>Please sign in</html>', { status, headers });
}
