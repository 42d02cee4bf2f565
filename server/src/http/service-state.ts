import type { FastifyInstance } from 'fastify';
import { draining, starting } from '#server/errors.ts';

/** Where the process is in its life. */
export type ServiceState = 'starting' | 'ready' | 'draining';

/** Probes and metrics. */
export const SERVED_ALWAYS = /^\/(?:api\/v1\/health(?:\/|\?|$)|metrics(?:\?|$))/;

/**
 * Refuses requests with 503 while the service is starting or draining; probes and metrics are served at all times.
 * While draining, every answer closes its connection, so that clients move on to another process.
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
