interface ErrorKind {
  readonly status: number;
  readonly title: string;
  /** The default sentence of the error. */
  readonly meaning: string;
}

/**
 * Every code that a problem can carry, each with its one status.
 * Codes are part of the interface: they are added, never renamed. `docs/errors.md` and `/docs/errors` show this table.
 */
export const errorCatalogue = {
  bad_request: {
    status: 400,
    title: 'Bad request',
    meaning: 'The request could not be read.',
  },
  invalid_encoding: {
    status: 400,
    title: 'Invalid encoding',
    meaning: 'The body does not match its content encoding.',
  },
  invalid_api_key: {
    status: 401,
    title: 'Invalid API key',
    meaning: 'The API key is unknown, expired or revoked.',
  },
  invalid_signature: {
    status: 401,
    title: 'Invalid signature',
    meaning: 'The signature is missing or wrong.',
  },
  stale_signature: {
    status: 401,
    title: 'Stale signature',
    meaning:
      'The signature is valid, but its time is too old, or ahead of the clock of the service.',
  },
  not_signed_in: {
    status: 401,
    title: 'Not signed in',
    meaning:
      'This needs a signed-in operator, or an API key with a scope for the operator interface.',
  },
  sign_in_failed: {
    status: 401,
    title: 'Sign-in failed',
    meaning: 'The e-mail address, the password or the one-time code is wrong.',
  },
  code_required: {
    status: 401,
    title: 'One-time code required',
    meaning: 'The password is right; signing in also needs a one-time code or a recovery code.',
  },
  link_invalid: {
    status: 401,
    title: 'Link invalid',
    meaning:
      'The one-time link is unknown, was used before, or has expired; `latchkey operator reset` creates another.',
  },
  buyer_session_invalid: {
    status: 401,
    title: 'No session of a buyer',
    meaning: 'The session of the buyer is missing, unknown, or has ended after 30 minutes.',
  },
  insufficient_scope: {
    status: 403,
    title: 'Insufficient scope',
    meaning: 'The API key does not have the scope for this operation.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning: 'The role of the operator does not include this operation.',
  },
  fresh_proof_required: {
    status: 403,
    title: 'Fresh proof required',
    meaning: 'The operator must prove the password again; the proof is valid for 10 minutes.',
  },
  cross_origin: {
    status: 403,
    title: 'Cross-origin request',
    meaning: 'A page of another origin sent this request, or it is not JSON.',
  },
  https_required: {
    status: 403,
    title: 'HTTPS required',
    meaning:
      'Operators sign in over https, or on a loopback address; set LATCHKEY_PUBLIC_URL to an https address.',
  },
  license_expired: {
    status: 403,
    title: 'License expired',
    meaning: 'The license has expired.',
  },
  license_paused: {
    status: 403,
    title: 'License paused',
    meaning: 'The subscription behind the license is paused.',
  },
  license_canceled: {
    status: 403,
    title: 'License canceled',
    meaning: 'The subscription behind the license was canceled.',
  },
  license_refunded: {
    status: 403,
    title: 'License refunded',
    meaning: 'The payment for the license was refunded.',
  },
  license_suspended: {
    status: 403,
    title: 'License suspended',
    meaning: 'The license is suspended.',
  },
  license_revoked: {
    status: 403,
    title: 'License revoked',
    meaning: 'The license was revoked.',
  },
  machine_mismatch: {
    status: 403,
    title: 'Machine mismatch',
    meaning: 'The activation belongs to another machine.',
  },
  code_invalid: {
    status: 403,
    title: 'Code invalid',
    meaning:
      'The code is wrong, was used, has expired, or was tried too often; `tries_left` is the number of further tries.',
  },
  airgap_not_offered: {
    status: 403,
    title: 'Air-gapped activation not offered',
    meaning: 'The product of the license is not activated on machines without a connection.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    meaning: 'This path does not exist.',
  },
  license_not_found: {
    status: 404,
    title: 'License not found',
    meaning: 'There is no license with this key.',
  },
  activation_not_found: {
    status: 404,
    title: 'Activation not found',
    meaning: 'The license has no such activation.',
  },
  unknown_provider: {
    status: 404,
    title: 'Unknown provider',
    meaning: 'No payment provider has this name.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path does not support this method; the header Allow lists the supported ones.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timeout',
    meaning: 'The request did not arrive in time.',
  },
  activation_limit_reached: {
    status: 409,
    title: 'Activation limit reached',
    meaning:
      'The license is active on as many machines as it allows; `max` and `current` are the numbers.',
  },
  move_limit_reached: {
    status: 409,
    title: 'Move limit reached',
    meaning:
      'The license was activated on as many different machines as it allows within `days` days; `available_at` is the time at which the next one is possible.',
  },
  airgap_product_mismatch: {
    status: 409,
    title: 'Request of another product',
    meaning: 'The request was created by the software of another product than that of the license.',
  },
  machine_airgapped: {
    status: 409,
    title: 'Machine without a connection',
    meaning:
      'The machine runs without a connection until `until`, so that its place cannot be freed before.',
  },
  freeing_limit_reached: {
    status: 409,
    title: 'Limit of freed machines reached',
    meaning:
      'The owner of the license freed as many machines as allowed within `days` days; `available_at` is the time at which the next one can be freed.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'Idempotency key reused',
    meaning: 'The idempotency key was used before, with another body.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    meaning: 'The resource changed after it was read; `current` is its state now.',
  },
  not_possible: {
    status: 409,
    title: 'Not possible now',
    meaning: 'The resource is not in a state that allows this change.',
  },
  totp_state: {
    status: 409,
    title: 'One-time codes in another state',
    meaning: 'One-time codes are enabled already, or have no secret yet.',
  },
  payload_too_large: {
    status: 413,
    title: 'Payload too large',
    meaning: 'The body is larger than this operation accepts.',
  },
  uri_too_long: {
    status: 414,
    title: 'URI too long',
    meaning: 'A part of the path is longer than this operation accepts.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'The body must be JSON (`application/json`).',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    meaning:
      'Too many requests came from this address; the header Retry-After has the seconds to wait.',
  },
  headers_too_large: {
    status: 431,
    title: 'Header fields too large',
    meaning: 'The header fields are larger than this service accepts.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    meaning: 'An internal error occurred; its log line has the id of X-Request-Id.',
  },
  billing_not_configured: {
    status: 503,
    title: 'Billing not configured',
    meaning: 'No secret is configured for this payment provider.',
  },
  database_unavailable: {
    status: 503,
    title: 'Database unavailable',
    meaning: 'The database is currently unreachable.',
  },
  mail_not_configured: {
    status: 503,
    title: 'Mail not configured',
    meaning: 'The service sends no e-mail, because no mail relay is configured.',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    meaning: 'More requests are waiting than the service can answer in time.',
  },
  provider_unavailable: {
    status: 503,
    title: 'Identity provider unavailable',
    meaning:
      'The identity provider cannot be reached; a one-time link (`latchkey operator reset`) signs in without it.',
  },
  storage_low: {
    status: 503,
    title: 'Storage low',
    meaning: 'The disk is nearly full: events and heartbeats are not stored until there is space.',
  },
  starting: {
    status: 503,
    title: 'Starting',
    meaning: 'The service is starting.',
  },
  draining: {
    status: 503,
    title: 'Shutting down',
    meaning: 'This process is shutting down.',
  },
} as const satisfies Record<string, ErrorKind>;

/** A stable identifier of a kind of refusal or failure. */
export type ErrorCode = keyof typeof errorCatalogue;

/** Returns the path of a code's explanation, relative to the service's URL (RFC 9457 allows relative references). */
export function errorDocumentationPath(code: ErrorCode): string {
  return `/docs/errors#${code}`;
}
