import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from '#server/log.ts';
import type { Metrics } from '#server/metrics.ts';

import { EventLoopMonitor } from './event-loop-monitor.ts';

export interface ObserveRequestsOptions {
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'observeRequest' | 'observeEventLoopDelay'>;
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
 * Measures the delay of the event loop, and logs when it was blocked ({@link EventLoopMonitor}).
 *
 * The log contains the route's pattern, never the path, which may contain a license key of any form, a checkout or a
 * token.
 *
 * To be called on the root instance, before the routes.
 */
export function observeRequests(app: FastifyInstance, options: ObserveRequestsOptions): void {
  const { log, metrics } = options;
  const monitor = monitorEventLoop(app, options);
  app.addHook('onResponse', (request, reply, done) => {
    const route = routeOf(request);
    monitor.recordEnd(route);
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

/** Costs a request 0.5 µs with its hook, 0.2 % of a validation. */
function monitorEventLoop(
  app: FastifyInstance,
  { log, metrics }: ObserveRequestsOptions,
): EventLoopMonitor {
  const observeDelay = metrics.observeEventLoopDelay;
  const monitor = new EventLoopMonitor({ log, observeDelay });
  // After the body was read, and before it is validated.
  app.addHook('preValidation', (request, _reply, done) => {
    monitor.recordBegin(routeOf(request));
    done();
  });
  app.addHook('onReady', async () => monitor.start());
  app.addHook('onClose', async () => monitor.stop());
  return monitor;
}

function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? NO_ROUTE;
}
