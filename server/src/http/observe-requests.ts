import type { FastifyInstance } from 'fastify';
import type { Logger } from '#server/log.ts';
import type { Metrics } from '#server/metrics.ts';

/** The log and metrics of requests. */
export interface ObserveRequestsOptions {
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'observeRequest'>;
}

/** A request that took longer is worth a line in the log. */
const SLOW_MS = 1_000;

/** Answers during a flood or an outage, when there may be any number of them. */
const TOO_MANY_TO_LOG: ReadonlySet<number> = new Set([408, 429, 503]);

/** Names requests that no route took: their paths could be anything, so they become neither labels nor lines. */
const NO_ROUTE = 'none';

/**
 * Measures every request by its route and logs the ones worth reading: at level `info` those answered with 400 or more
 * and the slow ones, at `debug` all. A line costs some 10 µs, a measurement 0.1 µs. Answers 408, 429 and 503 are logged at
 * `debug` only, so that neither a flood nor an outage can fill the disk; they are counted, and an outage or a flood has
 * lines of its own (`error-handler.ts`, `overload-monitor.ts`).
 *
 * A request is named by its route's pattern, never by its path: a path may hold a license key of any form, a checkout
 * or a token, also one that no route takes.
 *
 * Called on the root instance, before the routes, so that it holds for all of them.
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
