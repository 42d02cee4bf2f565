import type { FastifyInstance } from 'fastify';
import type { Logger } from '#server/log.ts';
import type { Metrics } from '#server/metrics.ts';

export interface ObserveRequestsOptions {
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'observeRequest'>;
}

/** A slower request is logged at level `info`. */
const SLOW_MS = 1_000;

/** Responses during a flood or an outage, in any number. */
const TOO_MANY_TO_LOG: ReadonlySet<number> = new Set([408, 429, 503]);

/** The route of requests without one: their paths could be anything, so they are neither labels nor log fields. */
const NO_ROUTE = 'none';

/**
 * Measures every request by its route. Logs slow requests and statuses from 400 at level `info`, all others at `debug`.
 * Statuses 408, 429 and 503 are logged at `debug` only, so that neither a flood nor an outage can fill the disk; those
 * have their own lines (`error-handler.ts`, `overload-monitor.ts`). A line costs about 10 µs.
 *
 * The log contains the route's pattern, never the path, which may contain a license key of any form, a checkout or a
 * token.
 *
 * To be called on the root instance, before the routes.
 */
export function observeRequests(app: FastifyInstance, options: ObserveRequestsOptions): void {
  const { log, metrics } = options;
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? NO_ROUTE;
    const status = reply.statusCode;
    const durationMs = reply.elapsedTime;
    metrics.observeRequest(route, request.method, status, durationMs / 1_000);

    const notable = !TOO_MANY_TO_LOG.has(status) && (status >= 400 || durationMs > SLOW_MS);
    if (notable || log.isLevelEnabled('debug')) {
      log[notable ? 'info' : 'debug'](
        {
          event: 'request.completed',
          requestId: request.id,
          method: request.method,
          route,
          status,
          durationMs: Math.round(durationMs * 10) / 10,
        },
        'request completed',
      );
    }
    done();
  });
}
