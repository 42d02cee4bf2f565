import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { badRequest } from '#server/errors.ts';

/**
 * Refuses HTTP/1.1 requests without `Host`, and all with more than one (RFC 9112 §3.2). Node would refuse the former by
 * itself, but with an empty answer, so it is told to leave that to us; of several it takes the first.
 */
export function requireHost(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
      done(badRequest('The header Host is missing.'));
    } else if (countHosts(raw) > 1) {
      done(badRequest('The header Host is there more than once.'));
    } else {
      done();
    }
  });
}

/** `headersDistinct` would tell too, but makes a list for every header of every request. */
function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}
