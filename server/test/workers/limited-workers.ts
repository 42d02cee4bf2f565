/** A program: two workers that serve one connection each behind one port, which the supervisor sends to its parent. */
import cluster from 'node:cluster';
import { createServer } from 'node:http';

import { limitConnections } from '#server/http/connections.ts';

const WORKERS = 2;

if (cluster.isPrimary) {
  let listening = 0;
  for (let count = 0; count < WORKERS; count++) cluster.fork();
  cluster.on('listening', (_worker, { port }) => {
    listening++;
    if (listening === WORKERS) process.send?.({ port });
  });
  // The workers end with their supervisor.
  process.on('disconnect', () => process.exit());
} else {
  const server = createServer((_request, response) => response.end('served'));
  limitConnections(server, {
    maxConnections: 1,
    isTrustedProxy: () => true,
    recordLimited: () => {},
  });
  server.listen(0, '127.0.0.1');
}
