import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { namedSchemas } from '@latchkey/contract';
import { fastify } from 'fastify';
import { addAnswerHeaders, makeAnswerHeaders } from './answer-headers.ts';
import type { App } from './app-instance.ts';
import { identifyClients } from './client-network.ts';
import { addErrorHandler } from './error-handler.ts';
import type { FailureLog } from './failure-log.ts';
import { addJsonParser } from './json-parser.ts';
import type { EpisodeLog } from './episode.ts';
import { LOAD_LIMITS, type LoadLimits, limitLoad } from './limit-load.ts';
import { addNotFoundHandler } from './not-found.ts';
import type { Metrics } from '#server/metrics.ts';
import type { LoadState } from './overload-monitor.ts';
import { requireHost } from './require-host.ts';
import { MAX_CONNECTIONS, makeServerOptions } from './server-options.ts';
import { type ServiceState, refuseUnlessReady } from './service-state.ts';

/** What the HTTP shell has to know. */
export interface ShellOptions {
  /** Where clients reach the service. */
  readonly publicUrl: string;
  /** Addresses and CIDR networks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  readonly log: FailureLog & EpisodeLog;
  readonly metrics: Pick<Metrics, 'countHttpLimited' | 'setHttpLoad'>;
  readonly state: () => ServiceState;
  /** Left out: the limits of a service. */
  readonly loadLimits?: LoadLimits;
}

/** The HTTP shell, and how loaded it is. */
export interface Shell {
  readonly app: App;
  readonly readLoadState: () => LoadState;
}

/** Makes an instance that serves nothing yet, but refuses everything as this interface does. */
export function createShell(shellOptions: ShellOptions): Shell {
  const { publicUrl, trustedProxies, log, metrics, state } = shellOptions;
  const answerHeaders = makeAnswerHeaders(publicUrl);
  const options = makeServerOptions({ answerHeaders });
  const app = fastify(options).withTypeProvider<TypeBoxTypeProvider>();
  app.server.maxConnections = MAX_CONNECTIONS;
  ignoreUnknownExpectations(app);
  for (const schema of namedSchemas) app.addSchema(schema);
  addJsonParser(app);
  addErrorHandler(app, log);
  addNotFoundHandler(app);
  addAnswerHeaders(app, answerHeaders);
  identifyClients(app, trustedProxies);
  requireHost(app);
  refuseUnlessReady(app, state);
  const load = limitLoad(app, {
    limits: shellOptions.loadLimits ?? LOAD_LIMITS,
    log,
    countLimited: (limit) => metrics.countHttpLimited(limit),
  });
  metrics.setHttpLoad(() => ({ state: load.state, memory: load.memory }));
  return { app, readLoadState: () => load.state };
}

/** Node would refuse an `Expect` other than `100-continue` with an empty answer; RFC 9110 §10.1.1 leaves the choice. */
function ignoreUnknownExpectations(app: App): void {
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
}
