import type { FastifyInstance } from 'fastify';

/** One year, in seconds. */
const HSTS_MAX_AGE_SECONDS = 31_536_000;

/**
 * The headers that every answer carries; pages set a policy and a lifetime of their own.
 * Made once: they are the same for all requests, so that they cost next to nothing on each.
 * @param publicUrl where clients reach the service; transport security is promised only when it is https.
 */
export function makeAnswerHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(publicUrl.startsWith('https:')
      ? { 'strict-transport-security': `max-age=${HSTS_MAX_AGE_SECONDS}` }
      : {}),
  };
}

/**
 * What a page of another origin may see (Fetch Standard, CORS): everything that needs no credentials, so that a checkout
 * page can poll and an application in a web view can validate. Cookies and API keys are never let through.
 */
const CROSS_ORIGIN_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'Retry-After, RateLimit, RateLimit-Policy, X-Events-Dropped, X-Request-Id',
};

/** How long a browser may remember that it may ask, in seconds. */
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** The answer to a browser that asks whether a page may send a request. */
export function makePreflightHeaders(allow: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-methods': allow,
    'access-control-allow-headers': 'Content-Type, Content-Encoding, X-Request-Id',
    'access-control-max-age': String(PREFLIGHT_MAX_AGE_SECONDS),
  };
}

/** Puts these headers and the request's id on every answer, refusals included. */
export function addAnswerHeaders(
  app: FastifyInstance,
  headers: Readonly<Record<string, string>>,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers);
    reply.header('x-request-id', request.id);
    if (request.headers.origin !== undefined) reply.headers(CROSS_ORIGIN_HEADERS);
    done();
  });
}
