import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '#server/lib/client-network.ts';
import { SharedBudget } from '#server/lib/shared-budget.ts';
import type { HttpLimit } from './overload-monitor.ts';

interface ConnectionLimits {
  readonly maxConnections: number;
  readonly isTrustedProxy: (address: string) => boolean;
  readonly recordLimited: (limit: HttpLimit) => void;
}

/**
 * Bounds the connections of a server, and closes those of a client network that has as many as are still free: idle
 * connections cost little memory, and 10,000 of them from one address would keep everybody else out. Those of trusted
 * proxies carry many clients and are bounded together only.
 */
export function limitConnections(
  server: Server,
  { maxConnections, isTrustedProxy, recordLimited }: ConnectionLimits,
): void {
  const budget = new SharedBudget(maxConnections);
  server.maxConnections = maxConnections;
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
