import type { NoResponse } from './answer.ts';
import type { Cause } from './causes.ts';

/** The service did not answer; nothing changed. Try again later. */
export interface NoAnswer {
  readonly ok: false;
  readonly code: 'no_answer';
  readonly cause: Cause;
  /** How long the service asked to wait; 0 if it did not. */
  readonly retryAfterMs: number;
}

/** The service refused, or the client did without a request. */
export interface Refusal {
  readonly ok: false;
  /**
   * A code of the service, or of the client: `key_mistyped`, `not_activated`, `folder_unreadable`, `already_licensed`, `trial_expired`, `trial_unavailable`,
   * `purchase_pending`, `key_not_shown`, `aborted`, `entitlement_` and why an answer for use without a connection is not accepted,
   * `sharing_off`, `events_off`, `unexpected`.
   */
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
export function noAnswer({ cause, retryAfterMs }: NoResponse): NoAnswer {
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
