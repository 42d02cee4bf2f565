import type { Silence } from './answer.ts';
import type { Cause } from './causes.ts';

/** The service did not answer; nothing changed. Try again later. */
export interface NoAnswer {
  readonly ok: false;
  readonly code: 'no_answer';
  readonly cause: Cause;
  /** How long the service asked to wait; 0 if it did not. */
  readonly retryAfterMs: number;
}

/** The service refused, or the client did without a question. */
export interface Refusal {
  readonly ok: false;
  /** A code of the service, `key_mistyped`, `not_activated`, `entitlement_…`, `aborted`, `unexpected`. */
  readonly code: string;
  readonly cause?: undefined;
  /** Of a limit: how many are allowed, … */
  readonly max?: number;
  /** … how many there are, … */
  readonly current?: number;
  /** … and when the next one is possible, RFC 3339. */
  readonly availableAt?: string;
}

export type Failure = NoAnswer | Refusal;

/** The result of a call; it never throws. */
export type Result<Content = unknown> = ({ readonly ok: true } & Content) | Failure;

export const OK = { ok: true } as const;

/** The result of a call without an answer. */
export function noAnswer({ cause, retryAfterMs }: Silence): NoAnswer {
  return { ok: false, code: 'no_answer', cause, retryAfterMs };
}

/** A refusal by the client itself. */
export function refuse(code: string): Refusal {
  return { ok: false, code };
}

/** Whether the service did not answer. */
export function isNoAnswer(result: Result): result is NoAnswer {
  return 'retryAfterMs' in result;
}
