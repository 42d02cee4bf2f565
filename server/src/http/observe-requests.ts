import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from '#server/log.ts';
import type { Metrics } from '#server/metrics.ts';

import { EventLoopMonitor } from './event-loop-monitor.ts';
import { RefusalSampler } from '#server/lib/refusal-sampler.ts';

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
 * Measures every request by its route. Logs failures, and a sample of slow and of refused requests ({@link RefusalSampler}), at
 * level `info`, all others at `debug`. Two kinds are logged at `debug` only, so that nobody can fill the disk: requests without
 * a route, which scanners send all day, and statuses 408, 429 and 503, whose causes have their own lines
 * (`error-handler.ts`, `overload-monitor.ts`). A line costs about 10 µs.
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
  const describeNotable = createNotableCheck();
  app.addHook('onResponse', (request, reply, done) => {
    const route = routeOf(request);
    monitor.recordEnd(route);
    const status = reply.statusCode;
    const durationMs = reply.elapsedTime;
    metrics.observeRequest(route, request.method, status, durationMs / 1_000);

    const fields = describeNotable(request, status, durationMs);
    if (fields !== null || log.isLevelEnabled('debug')) {
      log[fields === null ? 'debug' : 'info'](
        {
          event: 'request.completed',
          requestId: request.id,
          method: request.method,
          route,
          status,
          durationMs: Math.round(durationMs * 10) / 10,
          ...fields,
        },
        'request completed',
      );
    }
    done();
  });
}

/** Creates a function that returns further fields of a request that is logged at `info`, or null. */
function createNotableCheck() {
  const sampler = new RefusalSampler();
  return (request: FastifyRequest, status: number, durationMs: number): object | null => {
    if (TOO_MANY_TO_LOG.has(status)) return null;
    if (status >= 500) return {};
    if (status < 400 && durationMs <= SLOW_MS) return null;
    if (request.routeOptions.url === undefined) return null;
    // A client that sends its body slowly makes its requests slow.
    const sample = sampler.take(request.clientNetwork, status < 400 ? 'slow' : status);
    return sample?.suppressed === 0 ? {} : sample;
  };
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
