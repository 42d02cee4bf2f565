import type { FastifyInstance } from 'fastify';

/** One year, in seconds. */
const HSTS_MAX_AGE_SECONDS = 31_536_000;

/**
 * Creates the headers of every response; pages set a policy and a lifetime of their own.
 * @param publicUrl the URL of the service for clients; Strict-Transport-Security is sent only if it is https
 */
export function createResponseHeaders(publicUrl: string): Readonly<Record<string, string>> {
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
 * Allows pages of other origins all requests without credentials (Fetch Standard, CORS), so that a checkout page can
 * poll and an application in a web view can validate. Cookies and API keys are never allowed.
 */
const CROSS_ORIGIN_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'Retry-After, RateLimit, RateLimit-Policy, X-Events-Dropped, X-Request-Id',
};

/** Sets these headers and the request's id on every response, errors included. */
export function addResponseHeaders(
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
