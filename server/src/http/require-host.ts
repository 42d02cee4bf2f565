import type { FastifyInstance } from 'fastify';
import { badRequest } from '#server/errors.ts';

/**
 * Refuses HTTP/1.1 requests without `Host` (RFC 9112 §3.2). Node would do so by itself, but with an empty answer;
 * it is told to leave that to us.
 */
export function refuseWithoutHost(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      done(badRequest('The header Host is missing.'));
    } else {
      done();
    }
  });
}
