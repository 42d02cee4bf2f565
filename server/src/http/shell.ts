import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { namedSchemas } from '@latchkey/contract';
import { fastify } from 'fastify';
import { addAnswerHeaders, makeAnswerHeaders } from './answer-headers.ts';
import type { App } from './app-instance.ts';
import { createTrustCheck, identifyClients } from './client-network.ts';
import { connectionsOf } from './connections.ts';
import { addErrorHandler } from './error-handler.ts';
import type { FailureLog } from './failure-log.ts';
import { addJsonParser } from './json-parser.ts';
import type { EpisodeLog } from './episode.ts';
import { HTTP_LIMITS, type HttpLimits } from './http-limits.ts';
import { limitConnections } from './limit-connections.ts';
import { limitLoad } from './limit-load.ts';
import { LoadControl } from './request-load.ts';
import { StalledWrites } from './stalled-writes.ts';
import { addNotFoundHandler } from './not-found.ts';
import type { Metrics } from '#server/metrics.ts';
import { type HttpLimit, type LoadState, OverloadMonitor } from './overload-monitor.ts';
import { requireHost } from './require-host.ts';
import { makeServerOptions } from './server-options.ts';
import { type ServiceState, refuseUnlessReady } from './service-state.ts';

/** The dependencies of the HTTP shell. */
export interface ShellOptions {
  /** Where clients reach the service. */
  readonly publicUrl: string;
  /** Addresses and CIDR networks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  readonly log: FailureLog & EpisodeLog;
  readonly metrics: Pick<Metrics, 'countHttpLimited' | 'setHttpLoad'>;
  readonly state: () => ServiceState;
  /** Left out: the limits of a service. */
  readonly limits?: HttpLimits;
}

/** The HTTP shell, and how loaded it is. */
export interface Shell {
  readonly app: App;
  readonly readLoadState: () => LoadState;
}

/** Makes an instance that serves nothing yet, but refuses everything as this interface does. */
export function createShell(shellOptions: ShellOptions): Shell {
  const { publicUrl, trustedProxies, log, metrics, state } = shellOptions;
  const limits = shellOptions.limits ?? HTTP_LIMITS;
  const answerHeaders = makeAnswerHeaders(publicUrl);
  const options = makeServerOptions({ answerHeaders });
  const app = fastify(options).withTypeProvider<TypeBoxTypeProvider>();
  const isTrustedProxy = createTrustCheck(trustedProxies);
  const monitor = new OverloadMonitor(log, (limit) => metrics.countHttpLimited(limit));
  const load = new LoadControl(monitor, limits);
  guardConnections(app, limits, load, isTrustedProxy);
  metrics.setHttpLoad(() => ({ state: load.state, memory: load.memory }));
  ignoreUnknownExpectations(app);
  for (const schema of namedSchemas) app.addSchema(schema);
  addJsonParser(app);
  addErrorHandler(app, log);
  addNotFoundHandler(app);
  addAnswerHeaders(app, answerHeaders);
  identifyClients(app, isTrustedProxy);
  requireHost(app);
  refuseUnlessReady(app, state);
  limitLoad(app, load);
  return { app, readLoadState: () => load.state };
}

/** One timer judges the progress of all bodies, answers and the load, since one per request would cost more. */
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

/** Node would refuse an `Expect` other than `100-continue` with an empty answer; RFC 9110 §10.1.1 leaves the choice. */
function ignoreUnknownExpectations(app: App): void {
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
}
