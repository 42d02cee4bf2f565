import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { invalidApiKey } from '#server/errors.ts';
import { type Metrics, metricsContentType } from '#server/metrics.ts';

type Rendered = Pick<Metrics, 'render'>;

/** A listener that was started for the metrics alone. */
export interface MetricsListener {
  /** The port it got. */
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics` on the service's own port to whoever shows the token (`Authorization: Bearer …`).
 * Without a token there is no such path.
 */
export function addMetricsRoute(
  app: FastifyInstance,
  metrics: Rendered,
  token: string | null,
): void {
  if (token === null) return;
  const expected = digest(`Bearer ${token}`);
  app.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    // Digests are of one length, and comparing them tells nothing about how much of the token was right.
    if (!timingSafeEqual(digest(request.headers.authorization ?? ''), expected)) {
      reply.header('www-authenticate', 'Bearer');
      throw invalidApiKey();
    }
    return reply
      .header('content-type', metricsContentType)
      .header('cache-control', 'no-store')
      .send(await metrics.render());
  });
}

/**
 * Serves `GET /metrics` on a port of its own, open to all who reach it: keep it inside.
 * @throws when the port cannot be had
 */
export async function startMetricsListener(
  metrics: Rendered,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MetricsListener> {
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.render().then(
      (text) => response.writeHead(200, { 'content-type': metricsContentType }).end(text),
      () => response.writeHead(500).end(),
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

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
