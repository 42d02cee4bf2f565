import type { FastifyInstance } from 'fastify';

/** As long as the slowest answer may take; whoever has not sent the whole of a request by then is cut off. */
const PATIENCE_MS = 10_000;
const SWEEP_INTERVAL_MS = 50;

/** Stops listening, and resolves when every request that had arrived is answered and all connections are closed. */
export async function closeGracefully(app: FastifyInstance): Promise<void> {
  // Node closes the connections that are idle when it stops listening. One that becomes idle later would stay open for
  // as long as it is kept alive, and one that never finishes a request would stay for ever.
  const sweeping = setInterval(() => app.server.closeIdleConnections(), SWEEP_INTERVAL_MS);
  const cuttingOff = setTimeout(() => app.server.closeAllConnections(), PATIENCE_MS);
  try {
    await app.close();
  } finally {
    clearInterval(sweeping);
    clearTimeout(cuttingOff);
  }
}
