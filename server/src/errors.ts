import type { ValidationError } from '@latchkey/contract';
import { type ErrorCode, errorCatalogue } from './error-catalogue.ts';

/** Optional members of a problem. */
type Members = Readonly<Record<string, string | number>>;

interface PublicErrorParts {
  /** A sentence for the caller. */
  readonly detail?: string;
  readonly members?: Members;
  readonly headers?: Readonly<Record<string, string>>;
  /** The inner cause: logged, never sent. */
  readonly cause?: unknown;
}

/** An error that is sent to the caller as problem details (RFC 9457). */
export class PublicError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly detail: string;
  readonly members: Members;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, parts: PublicErrorParts = {}) {
    const { status, meaning } = errorCatalogue[code];
    const detail = parts.detail ?? meaning;
    super(detail, { cause: parts.cause });
    this.name = 'PublicError';
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.members = parts.members ?? {};
    this.headers = parts.headers ?? {};
  }
}

/** The header that a 401 must have (RFC 9110 §11.6.1): the scheme, without the reason. */
const API_KEY_CHALLENGE = { 'www-authenticate': 'Bearer' };

/** A request that does not fit its schema or its limits: 422 with one item per fault. */
export class InvalidRequestError extends Error {
  readonly items: readonly ValidationError[];

  constructor(items: readonly ValidationError[]) {
    super('The request is not valid.');
    this.name = 'InvalidRequestError';
    this.items = items;
  }
}

/** @param items the faults, in the order of the response. */
export function invalidRequest(items: readonly ValidationError[]): InvalidRequestError {
  return new InvalidRequestError(items);
}

/** The statuses in which a license refuses a new activation. */
export type UnusableStatus =
  | 'expired'
  | 'paused'
  | 'canceled'
  | 'refunded'
  | 'suspended'
  | 'revoked';

export function licenseNotFound(): PublicError {
  return new PublicError('license_not_found');
}

export function activationNotFound(): PublicError {
  return new PublicError('activation_not_found');
}

export function machineMismatch(): PublicError {
  return new PublicError('machine_mismatch');
}

/**
 * @param max how many machines the license allows.
 * @param current how many are active now.
 */
export function activationLimitReached(max: number, current: number): PublicError {
  return new PublicError('activation_limit_reached', {
    detail: `The license is active on ${current} of ${max} machines. Deactivate one of them first.`,
    members: { max, current },
  });
}

/**
 * @param max how many different machines the license allows within the period.
 * @param days the period.
 * @param availableAt when another machine can be activated.
 */
export function moveLimitReached(max: number, days: number, availableAt: Date): PublicError {
  return new PublicError('move_limit_reached', {
    detail: `The license was activated on ${max} different machines within ${days} days. Use one of them again, or ask the vendor.`,
    members: { max, days, available_at: availableAt.toISOString() },
  });
}

export function licenseNotUsable(status: UnusableStatus): PublicError {
  return new PublicError(`license_${status}`);
}

export function invalidApiKey(): PublicError {
  return new PublicError('invalid_api_key', { headers: API_KEY_CHALLENGE });
}

export function missingApiKey(): PublicError {
  return new PublicError('invalid_api_key', {
    detail: 'This needs an API key, in X-API-Key or as Authorization: Bearer.',
    headers: API_KEY_CHALLENGE,
  });
}

/** @param scope the scope that the key lacks. */
export function insufficientScope(scope: string): PublicError {
  return new PublicError('insufficient_scope', {
    detail: `The API key does not have the scope ${scope}.`,
  });
}

export function invalidSignature(): PublicError {
  return new PublicError('invalid_signature');
}

export function staleSignature(): PublicError {
  return new PublicError('stale_signature');
}

export function billingNotConfigured(): PublicError {
  return new PublicError('billing_not_configured', { headers: retryAfter(60) });
}

export function unknownProvider(): PublicError {
  return new PublicError('unknown_provider');
}

export function idempotencyKeyReused(): PublicError {
  return new PublicError('idempotency_key_reused');
}

export function rateLimited(
  retryAfterSeconds: number,
  headers: Readonly<Record<string, string>> = {},
): PublicError {
  return new PublicError('rate_limited', {
    headers: { ...headers, ...retryAfter(retryAfterSeconds) },
  });
}

export function overloaded(retryAfterSeconds: number): PublicError {
  return new PublicError('overloaded', { headers: retryAfter(retryAfterSeconds) });
}

/** @param cause the driver's error. */
export function databaseUnavailable(cause: unknown): PublicError {
  return new PublicError('database_unavailable', { cause, headers: retryAfter(1) });
}

export function storageLow(retryAfterSeconds: number): PublicError {
  return new PublicError('storage_low', { headers: retryAfter(retryAfterSeconds) });
}

export function starting(): PublicError {
  return new PublicError('starting', { headers: retryAfter(1) });
}

/** The connection is closed with the answer, so that the next request finds another process. */
export function draining(): PublicError {
  return new PublicError('draining', { headers: { ...retryAfter(1), connection: 'close' } });
}

export function notFound(): PublicError {
  return new PublicError('not_found');
}

/** @param allow the methods that the path does serve. */
export function methodNotAllowed(allow: readonly string[]): PublicError {
  return new PublicError('method_not_allowed', { headers: { allow: allow.join(', ') } });
}

export function payloadTooLarge(): PublicError {
  return new PublicError('payload_too_large');
}

export function unsupportedMediaType(): PublicError {
  return new PublicError('unsupported_media_type');
}

/** @param accepted the content encodings that the operation takes. */
export function unsupportedEncoding(accepted: readonly string[]): PublicError {
  return new PublicError('unsupported_media_type', {
    detail: 'The body is sent in a content encoding that this operation does not take.',
    headers: { 'accept-encoding': accepted.join(', ') },
  });
}

export function invalidEncoding(cause?: unknown): PublicError {
  return new PublicError('invalid_encoding', { cause });
}

export function badRequest(detail?: string): PublicError {
  return new PublicError('bad_request', detail === undefined ? {} : { detail });
}

export function uriTooLong(): PublicError {
  return new PublicError('uri_too_long');
}

export function requestTimeout(): PublicError {
  return new PublicError('request_timeout', { headers: { connection: 'close' } });
}

export function headersTooLarge(): PublicError {
  return new PublicError('headers_too_large', { headers: { connection: 'close' } });
}

/** @param cause the inner cause: logged, never sent. */
export function internal(cause: unknown): PublicError {
  return new PublicError('internal_error', { cause });
}

function retryAfter(seconds: number): Record<string, string> {
  return { 'retry-after': String(Math.max(1, Math.ceil(seconds))) };
}
