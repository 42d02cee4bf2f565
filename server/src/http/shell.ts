import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { namedSchemas } from '@latchkey/contract';
import { fastify } from 'fastify';
import { addResponseHeaders, createResponseHeaders } from './response-headers.ts';
import type { App } from './app-instance.ts';
import { identifyClients } from './client-network.ts';
import { createNetworkCheck } from '#server/lib/network-check.ts';
import { compileSchemasOnDemand } from './compile-schemas.ts';
import { connectionsOf, limitConnections } from './connections.ts';
import { addErrorHandler, type FailureLog } from './error-handler.ts';
import { addJsonParser } from './json-parser.ts';
import { limitLoad } from './limit-load.ts';
import { LoadControl, type MemoryLimits } from './request-load.ts';
import { StalledWrites, type WriteLimits } from './stalled-writes.ts';
import { addNotFoundHandler } from './not-found.ts';
import type { Metrics } from '#server/metrics.ts';
import {
  OverloadMonitor,
  type EpisodeLog,
  type HttpLimit,
  type LoadState,
} from './overload-monitor.ts';
import { createServerOptions, requireHost } from './server-options.ts';
import { type ServiceState, refuseUnlessReady } from './service-state.ts';

/** Limits on the resources of a process that clients use. */
export interface HttpLimits extends MemoryLimits, WriteLimits {
  /** Connections at the same time. */
  readonly maxConnections: number;
  /** The interval of checks of progress and load. */
  readonly sweepIntervalMs: number;
}

/** The limits of a service. */
export const HTTP_LIMITS: HttpLimits = {
  usualBytes: 96 * 1024 * 1024,
  largeBytes: 32 * 1024 * 1024,
  writeStallMs: 20_000,
  // The largest response, a script of 1.4 MB, then needs 5 kB a second.
  writeDeadlineMs: 300_000,
  maxConnections: 10_000,
  sweepIntervalMs: 1_000,
};

/** The dependencies of the HTTP shell. */
export interface ShellOptions {
  /** The URL of the service for clients. */
  readonly publicUrl: string;
  /** Addresses and CIDR networks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  readonly log: FailureLog & EpisodeLog;
  readonly metrics: Pick<Metrics, 'countHttpLimited' | 'setHttpLoad'>;
  readonly state: () => ServiceState;
  /** Default: the limits of a service. */
  readonly limits?: HttpLimits;
}

/** The HTTP shell and its load. */
export interface Shell {
  readonly app: App;
  readonly readLoadState: () => LoadState;
}

/** Creates an instance without routes, which already rejects requests as the interface specifies. */
export function createShell(shellOptions: ShellOptions): Shell {
  const { publicUrl, trustedProxies, log, metrics, state } = shellOptions;
  const limits = shellOptions.limits ?? HTTP_LIMITS;
  const responseHeaders = createResponseHeaders(publicUrl);
  const options = createServerOptions({ responseHeaders });
  const app = fastify(options).withTypeProvider<TypeBoxTypeProvider>();
  const isTrustedProxy = createNetworkCheck(trustedProxies);
  const monitor = new OverloadMonitor(log, (limit) => metrics.countHttpLimited(limit));
  const load = new LoadControl(monitor, limits);
  guardConnections(app, limits, load, isTrustedProxy);
  metrics.setHttpLoad(() => ({ state: load.state, memory: load.memory }));
  ignoreUnknownExpectations(app);
  for (const schema of namedSchemas) app.addSchema(schema);
  compileSchemasOnDemand(app);
  addJsonParser(app);
  addErrorHandler(app, log);
  addNotFoundHandler(app);
  addResponseHeaders(app, responseHeaders);
  identifyClients(app, isTrustedProxy);
  requireHost(app);
  refuseUnlessReady(app, state);
  limitLoad(app, load);
  return { app, readLoadState: () => load.state };
}

/** One timer checks the load and the progress of all bodies and responses: a timer per request would cost more. */
function guardConnections(
  app: App,
  limits: HttpLimits,
  load: LoadControl,
  isTrustedProxy: (address: string) => boolean,
): void {
  const recordLimited = (limit: HttpLimit) => load.monitor.recordLimited(limit);
  const { maxConnections } = limits;
  limitConnections(app.server, { maxConnections, isTrustedProxy, recordLimited });
  const writes = new StalledWrites(connectionsOf(app.server), limits, () =>
    recordLimited('write_progress'),
  );
  const sweep = (): void => {
    load.sweep();
    writes.sweep(performance.now());
  };
  const sweeping = setInterval(sweep, limits.sweepIntervalMs).unref();
  app.addHook('onClose', async () => clearInterval(sweeping));
}

/** Node would refuse an `Expect` other than `100-continue` with an empty answer; RFC 9110 §10.1.1 allows both. */
function ignoreUnknownExpectations(app: App): void {
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
}
