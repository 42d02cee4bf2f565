import type { FastifyInstance } from 'fastify';
import { draining, starting } from '#server/errors.ts';

export type ServiceState = 'starting' | 'ready' | 'draining';

/** Paths of probes and metrics, which have responses in every state. */
export const SERVED_ALWAYS = /^\/(?:api\/v1\/health(?:\/|\?|$)|metrics(?:\?|$))/;

/**
 * Refuses requests with 503 while the service starts or drains, except for probes and metrics. While it drains, every
 * response closes its connection, so that clients connect to another process.
 */
export function refuseUnlessReady(app: FastifyInstance, state: () => ServiceState): void {
  app.addHook('onRequest', (request, reply, done) => {
    const now = state();
    if (now === 'ready') {
      done();
      return;
    }
    if (now === 'draining') reply.header('connection', 'close');
    if (SERVED_ALWAYS.test(request.url)) done();
    else done(now === 'starting' ? starting() : draining());
  });
}
