import type { FastifyInstance } from 'fastify';
import { draining, starting } from '#server/errors.ts';

/** `retiring`: a new process has taken over the port, and clients move to it. */
export type ServiceState = 'starting' | 'ready' | 'retiring' | 'draining';

/** Paths of probes and metrics, which have responses in every state. */
export const SERVED_ALWAYS = /^\/(?:api\/v1\/health(?:\/|\?|$)|metrics(?:\?|$))/;

/**
 * Refuses requests with 503 while the service starts or drains, except for probes and metrics. While it retires or drains,
 * every response closes its connection, so that clients connect to another process.
 */
export function refuseUnlessReady(app: FastifyInstance, state: () => ServiceState): void {
  app.addHook('onRequest', (request, reply, done) => {
    const now = state();
    if (now === 'ready') {
      done();
      return;
    }
    if (now !== 'starting') reply.header('connection', 'close');
    if (now === 'retiring' || SERVED_ALWAYS.test(request.url)) done();
    else done(now === 'starting' ? starting() : draining());
  });
}
