import type { FastifyInstance } from 'fastify';
import { connectionsOf } from './connections.ts';

/** As long as the slowest answer may take; a client that has not sent its whole request by then is cut off. */
const PATIENCE_MS = 10_000;
const SWEEP_INTERVAL_MS = 50;

/**
 * Prepares the closing of an instance, before it listens. The function that it gives stops listening, and resolves once
 * every request that had arrived is answered and all connections are closed.
 */
export function prepareToClose(app: FastifyInstance): () => Promise<void> {
  const connections = connectionsOf(app.server);
  // Node closes only the connections that are idle when it stops listening, and takes one on which nothing was ever sent
  // for busy. One that becomes idle later would stay open for as long as it is kept alive.
  const closeIdle = (): void => {
    app.server.closeIdleConnections();
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  };
  return async () => {
    const sweeping = setInterval(closeIdle, SWEEP_INTERVAL_MS);
    const cuttingOff = setTimeout(() => app.server.closeAllConnections(), PATIENCE_MS);
    try {
      await app.close();
    } finally {
      clearInterval(sweeping);
      clearTimeout(cuttingOff);
    }
  };
}
