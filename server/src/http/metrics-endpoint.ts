import { createServer } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type Metrics, metricsContentType } from '#server/metrics.ts';
import type { FailureLog } from './error-handler.ts';
import { type CheckApiKey, requireApiKey } from './require-api-key.ts';

type Rendered = Pick<Metrics, 'render'>;

/** A listener for the metrics only. */
export interface MetricsListener {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics` on the service's port for an API key; without one the response is 401.
 * @param check checks the key; one of the configuration without the database, so that metrics show its failure
 */
export function addMetricsRoute(app: FastifyInstance, metrics: Rendered, check: CheckApiKey): void {
  const options = { schema: { hide: true }, preHandler: requireApiKey(check) };
  app.get('/metrics', options, async (_request, reply) =>
    reply
      .header('content-type', metricsContentType)
      .header('cache-control', 'no-store')
      .send(await metrics.render()),
  );
}

const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Serves `GET /metrics` on a separate port without authentication.
 * @throws the error of `listen`
 */
export async function startMetricsListener(
  metrics: Rendered,
  { host, port }: { readonly host: string; readonly port: number },
  log: FailureLog,
): Promise<MetricsListener> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.render().then(
      (text) => response.writeHead(200, { 'content-type': metricsContentType }).end(text),
      (error: unknown) => {
        log.error(
          { event: 'metrics.rendering_failed', err: error },
          'could not render the metrics',
        );
        response.writeHead(500).end();
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
