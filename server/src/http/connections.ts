import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as afterReading, setTimeout as sleep } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';

import { networkOf } from '#server/lib/client-network.ts';
import { SharedBudget } from '#server/lib/shared-budget.ts';

import type { HttpLimit } from './overload-monitor.ts';

const connectionsByServer = new WeakMap<Server, ReadonlySet<Socket>>();

/** Returns the open connections of a server, kept up to date. The first call must precede `listen`. */
export function connectionsOf(server: Server): ReadonlySet<Socket> {
  const known = connectionsByServer.get(server);
  if (known !== undefined) return known;
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  connectionsByServer.set(server, connections);
  return connections;
}

interface ConnectionLimits {
  readonly maxConnections: number;
  readonly isTrustedProxy: (address: string) => boolean;
  readonly recordLimited: (limit: HttpLimit) => void;
}

/**
 * Limits the connections of a server, and closes new ones of a client network that has as many as are still free: idle
 * connections cost little memory, and 10,000 of them from one address would exclude all other clients. Trusted proxies
 * carry many clients, so only the total limits them.
 */
export function limitConnections(
  server: Server,
  { maxConnections, isTrustedProxy, recordLimited }: ConnectionLimits,
): void {
  const budget = new SharedBudget(maxConnections);
  // Of several workers, one that is full would otherwise return the connection to the supervisor, which passes it on without end.
  Object.assign(server, { maxConnections, dropMaxConnection: true });
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const network = networkOf(address);
    if (isTrustedProxy(address)) {
      budget.reserveUnlimited(network, 1);
    } else if (budget.reserve(network, 1) !== 'granted') {
      recordLimited('network_connections');
      socket.destroy();
      return;
    }
    socket.once('close', () => budget.release(network, 1));
  });
}

/** The limit of the slowest response, after which the remaining connections are closed. */
const CLOSE_TIMEOUT_MS = 10_000;
const SWEEP_INTERVAL_MS = 50;

/** A client that sends nothing for so long after its process began to retire is idle, and its connection is closed. */
const LEAVE_TIMEOUT_MS = 5_000;

/**
 * Stops accepting connections, and resolves when the clients of the others have left: each gets `Connection: close` with its
 * next response. Connections without a request for five seconds are closed; a slow response is waited for ten seconds more.
 * @param signal ends the wait
 */
export async function letClientsLeave(
  app: FastifyInstance,
  signal: AbortSignal,
  leaveMs = LEAVE_TIMEOUT_MS,
): Promise<void> {
  const { promise: haveLeft, resolve } = Promise.withResolvers<void>();
  // Not `close` of the HTTP server: it closes connections between two requests, of which a client may be sending the second.
  NetServer.prototype.close.call(app.server, () => resolve());
  const expired = sleep(leaveMs, undefined, { signal }).catch(() => undefined);
  await Promise.race([haveLeft, expired]);
  const connections = connectionsOf(app.server);
  const deadline = performance.now() + CLOSE_TIMEOUT_MS;
  while (connections.size > 0 && !signal.aborted && performance.now() < deadline) {
    // A busy process may not have read a request that arrived long ago: its connection is not idle.
    await afterReading();
    closeIdle(app.server);
    await sleep(SWEEP_INTERVAL_MS);
  }
}

/**
 * Node closes only connections that are idle when it stops listening, and considers one without any data busy. A connection that
 * becomes idle later would stay open as long as it is kept alive.
 */
function closeIdle(server: Server): void {
  server.closeIdleConnections();
  for (const socket of connectionsOf(server)) if (socket.bytesRead === 0) socket.destroy();
}

/**
 * Prepares the shutdown of an instance; to be called before it listens. The returned function stops listening, and
 * resolves once all requests that had arrived are answered and all connections are closed.
 */
export function prepareToClose(app: FastifyInstance): () => Promise<void> {
  connectionsOf(app.server);
  return async () => {
    const sweeping = setInterval(() => closeIdle(app.server), SWEEP_INTERVAL_MS);
    const deadline = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
    try {
      await app.close();
    } finally {
      clearInterval(sweeping);
      clearTimeout(deadline);
    }
  };
}
