import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const known = new WeakMap<Server, ReadonlySet<Socket>>();

/** Returns the open connections of a server, kept up to date. To be called first before it listens. */
export function connectionsOf(server: Server): ReadonlySet<Socket> {
  const kept = known.get(server);
  if (kept !== undefined) return kept;
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  known.set(server, connections);
  return connections;
}
