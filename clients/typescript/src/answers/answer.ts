import { isObject, parseJson, type JsonObject } from '../json.ts';
import type { Cause } from './causes.ts';

/** An answer of the service. */
export interface Success {
  readonly kind: 'success';
  readonly body: unknown;
  /** The service's time, in milliseconds since 1970; null without a header `Date`. */
  readonly serviceMs: number | null;
}

/** A refusal of the service, with a code. */
export interface Problem {
  readonly kind: 'problem';
  readonly status: number;
  readonly code: string;
  readonly body: JsonObject;
  readonly serviceMs: number | null;
}

/** No answer of the service, whatever arrived: it changes nothing. */
export interface NoResponse {
  readonly kind: 'no_response';
  readonly cause: Cause;
  /** For support: what happened, in a few words. */
  readonly detail: string;
  /** The status of what arrived; 0 if nothing did. */
  readonly status: number;
  /** How long the service asked to wait; 0 if it did not. */
  readonly retryAfterMs: number;
  /** The JSON that arrived, if it was any. */
  readonly body?: unknown;
}

export type Answer = Success | Problem | NoResponse;

/** What arrived over HTTP. */
export interface Received {
  readonly status: number;
  readonly contentType: string | null;
  readonly date: string | null;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** Describes that no answer came. */
export function noResponse(cause: Cause, detail: string, status = 0, retryAfterMs = 0): NoResponse {
  return { kind: 'no_response', cause, detail, status, retryAfterMs };
}

/** Decides what arrived: only JSON of the service's own forms is an answer. */
export function classify(received: Received): Answer {
  const { status } = received;
  if (status === 429 || status >= 500) {
    return noResponse('busy', `status ${status}`, status, readRetryAfter(received.retryAfter));
  }
  if (status === 407) return noResponse('proxy', 'status 407', status);
  const body = parseJson(received.text);
  const serviceMs = readDate(received.date);
  if (status === 200 && body !== undefined) return { kind: 'success', body, serviceMs };
  const code = readCode(received, body);
  if (code !== null && isObject(body)) return { kind: 'problem', status, code, body, serviceMs };
  return {
    ...noResponse('portal', `status ${status}, not an answer of the service`, status),
    body,
  };
}

function readCode({ status, contentType }: Received, body: unknown): string | null {
  if (status < 400 || !isObject(body) || typeof body['code'] !== 'string') return null;
  const isProblem = /^application\/problem\+json\b/i.test(contentType ?? '');
  return isProblem || body['status'] === status ? body['code'] : null;
}

function readDate(date: string | null): number | null {
  const milliseconds = Date.parse(date ?? '');
  return Number.isNaN(milliseconds) ? null : milliseconds;
}

/** A service that asks for more is believed for this long only. */
const MAX_WAIT_S = 86_400;

/** Reads seconds; the service sends no date. */
function readRetryAfter(text: string | null): number {
  const seconds = /^\d{1,9}$/.test(text ?? '') ? Number(text) : 0;
  return Math.min(seconds, MAX_WAIT_S) * 1000;
}
