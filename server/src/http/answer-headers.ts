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

/** Puts those headers and the request's id on every answer, refusals included. */
export function addAnswerHeaders(
  app: FastifyInstance,
  headers: Readonly<Record<string, string>>,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers);
    reply.header('x-request-id', request.id);
    done();
  });
}
