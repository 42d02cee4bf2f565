import type { OperatorRole, ValidationError } from '@latchkey/contract';
import { type ErrorCode, errorCatalogue } from '@latchkey/contract/error-catalogue';

/** Optional members of a problem. */
type Members = Readonly<Record<string, string | number | object>>;

interface PublicErrorParts {
  /** A sentence for the caller; default: the meaning of the code. */
  readonly detail?: string;
  readonly members?: Members;
  readonly headers?: Readonly<Record<string, string>>;
  /** Logged, never sent. */
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

/** A request that does not fit its schema or its limits: 422 with one item for each fault. */
export class InvalidRequestError extends Error {
  readonly items: readonly ValidationError[];

  constructor(items: readonly ValidationError[]) {
    super('The request is not valid.');
    this.name = 'InvalidRequestError';
    this.items = items;
  }
}

/** @param items the faults, in the order of the response */
export function invalidRequest(items: readonly ValidationError[]): InvalidRequestError {
  return new InvalidRequestError(items);
}

/** A field of the body that only some requests need. */
export function missingField(name: string): InvalidRequestError {
  return invalidRequest([{ loc: ['body', name], msg: 'Field required', type: 'missing' }]);
}

/** The statuses in which a license refuses a new activation. */
export type UnusableStatus =
  | 'expired'
  | 'paused'
  | 'canceled'
  | 'refunded'
  | 'suspended'
  | 'revoked';

/** A 401 must have a challenge (RFC 9110 §11.6.1). */
const API_KEY_CHALLENGE = { 'www-authenticate': 'Bearer' };

/** The connection is closed with the response. */
const CLOSE = { connection: 'close' };

export const licenseNotFound = refusal('license_not_found');
export const activationNotFound = refusal('activation_not_found');
export const machineMismatch = refusal('machine_mismatch');
export const buyerSessionInvalid = refusal('buyer_session_invalid', {
  'www-authenticate': 'X-Buyer-Session',
});
export const airgapNotOffered = refusal('airgap_not_offered');
export const airgapProductMismatch = refusal('airgap_product_mismatch');
export const invalidApiKey = refusal('invalid_api_key', API_KEY_CHALLENGE);
export const notSignedIn = refusal('not_signed_in', API_KEY_CHALLENGE);
export const signInFailed = refusal('sign_in_failed', API_KEY_CHALLENGE);
/** @param detail names the credential: the default names a password */
export function credentialRefused(detail: string): PublicError {
  return new PublicError('sign_in_failed', { detail, headers: API_KEY_CHALLENGE });
}

export const codeRequired = refusal('code_required', API_KEY_CHALLENGE);
export const linkInvalid = refusal('link_invalid', API_KEY_CHALLENGE);
export const freshProofRequired = refusal('fresh_proof_required');
export const crossOrigin = refusal('cross_origin');
export const httpsRequired = refusal('https_required');
export const invalidSignature = refusal('invalid_signature');
export const staleSignature = refusal('stale_signature');
export const providerUnavailable = refusal('provider_unavailable', retryAfter(10));
export const billingNotConfigured = refusal('billing_not_configured', retryAfter(60));
export const mailNotConfigured = refusal('mail_not_configured', retryAfter(60));
export const unknownProvider = refusal('unknown_provider');
export const totpState = refusal('totp_state');
export const idempotencyKeyReused = refusal('idempotency_key_reused');
export const starting = refusal('starting', retryAfter(1));
/** The connection is closed, so that the next request reaches another process. */
export const draining = refusal('draining', { ...retryAfter(1), ...CLOSE });
export const notFound = refusal('not_found');
export const payloadTooLarge = refusal('payload_too_large');
export const unsupportedMediaType = refusal('unsupported_media_type');
export const uriTooLong = refusal('uri_too_long');
export const requestTimeout = refusal('request_timeout', CLOSE);
export const headersTooLarge = refusal('headers_too_large', CLOSE);

/**
 * @param max how many machines the license allows
 * @param current how many are active now
 */
export function activationLimitReached(max: number, current: number): PublicError {
  return new PublicError('activation_limit_reached', {
    detail: `The license is active on ${current} of ${max} machines. Deactivate one of them first.`,
    members: { max, current },
  });
}

/**
 * @param max how many different machines the license allows within the period of `days`
 * @param availableAt when another machine can be activated
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

export function missingApiKey(): PublicError {
  return new PublicError('invalid_api_key', {
    detail: 'This needs an API key, in X-API-Key or as Authorization: Bearer.',
    headers: API_KEY_CHALLENGE,
  });
}

/** @param scope the scope that the key lacks */
export function insufficientScope(scope: string): PublicError {
  return new PublicError('insufficient_scope', {
    detail: `The API key does not have the scope ${scope}.`,
  });
}

/** @param detail a sentence: why, and what to do instead */
export function notPossible(detail: string): PublicError {
  return new PublicError('not_possible', { detail });
}

/** @param detail a sentence that names what does not exist */
export function noSuch(detail: string): PublicError {
  return new PublicError('not_found', { detail });
}

/** @param role the lowest role that has the permission; null: only a session has it */
export function forbidden(role: OperatorRole | null): PublicError {
  return new PublicError('forbidden', {
    detail:
      role === null
        ? 'This needs the session of an operator; an API key has none.'
        : `This needs the role ${role}.`,
  });
}

/** @param current the resource as it is now, as its operation answers it */
export function conflict(current: object): PublicError {
  return new PublicError('conflict', { members: { current } });
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

/** @param cause the driver's error */
export function databaseUnavailable(cause: unknown): PublicError {
  return new PublicError('database_unavailable', { cause, headers: retryAfter(1) });
}

/** @param triesLeft how often the code can be tried again */
export function codeInvalid(triesLeft: number): PublicError {
  return new PublicError('code_invalid', { members: { tries_left: triesLeft } });
}

/** @param until the end of the machine's entitlement */
export function machineAirgapped(until: Date): PublicError {
  return new PublicError('machine_airgapped', { members: { until: until.toISOString() } });
}

/**
 * @param max how many machines the owner of a license may free within `days` days
 * @param availableAt when the next one can be freed
 */
export function freeingLimitReached(max: number, days: number, availableAt: Date): PublicError {
  return new PublicError('freeing_limit_reached', {
    members: { max, days, available_at: availableAt.toISOString() },
  });
}

export function storageLow(retryAfterSeconds: number): PublicError {
  return new PublicError('storage_low', { headers: retryAfter(retryAfterSeconds) });
}

/** @param allow the methods that the path has */
export function methodNotAllowed(allow: readonly string[]): PublicError {
  return new PublicError('method_not_allowed', { headers: { allow: allow.join(', ') } });
}

/** @param accepted the content encodings of the operation */
export function unsupportedEncoding(accepted: readonly string[]): PublicError {
  return new PublicError('unsupported_media_type', {
    detail: 'The body is sent in a content encoding that this operation does not accept.',
    headers: { 'accept-encoding': accepted.join(', ') },
  });
}

export function invalidEncoding(cause?: unknown): PublicError {
  return new PublicError('invalid_encoding', { cause });
}

export function badRequest(detail?: string): PublicError {
  return new PublicError('bad_request', detail === undefined ? {} : { detail });
}

/** @param cause logged, never sent */
export function internal(cause: unknown): PublicError {
  return new PublicError('internal_error', { cause });
}

function refusal(code: ErrorCode, headers: Readonly<Record<string, string>> = {}) {
  return (): PublicError => new PublicError(code, { headers });
}

function retryAfter(seconds: number): Record<string, string> {
  return { 'retry-after': String(Math.max(1, Math.ceil(seconds))) };
}
