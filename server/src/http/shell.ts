import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { namedSchemas } from '@latchkey/contract';
import { fastify } from 'fastify';
import { addAnswerHeaders, makeAnswerHeaders } from './answer-headers.ts';
import type { App } from './app-instance.ts';
import { identifyClients } from './client-network.ts';
import { addErrorHandler } from './error-handler.ts';
import type { FailureLog } from './failure-log.ts';
import { addJsonParser } from './json-parser.ts';
import { limitLoad } from './limit-load.ts';
import { addNotFoundHandler } from './not-found.ts';
import { requireHost } from './require-host.ts';
import { MAX_CONNECTIONS, makeServerOptions } from './server-options.ts';
import { type ServiceState, refuseUnlessReady } from './service-state.ts';

/** What the HTTP shell has to know. */
export interface ShellOptions {
  /** Where clients reach the service. */
  readonly publicUrl: string;
  /** Addresses and CIDR networks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  readonly log: FailureLog;
  readonly state: () => ServiceState;
}

/** Makes an instance that serves nothing yet, but refuses everything as this interface does. */
export function createShell({ publicUrl, trustedProxies, log, state }: ShellOptions): App {
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
  limitLoad(app);
  return app;
}

/** Node would refuse an `Expect` other than `100-continue` with an empty answer; RFC 9110 §10.1.1 leaves the choice. */
function ignoreUnknownExpectations(app: App): void {
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
}
