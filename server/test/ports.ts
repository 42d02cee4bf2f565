import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Has a server listen on a port of this machine that nobody else has, and gives it. */
export async function listenOnFreePort(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('there is no port');
  return address.port;
}

/** A port that nobody had a moment ago, for a program that must be told one. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnFreePort(server);
  server.close();
  await once(server, 'close');
  return port;
}
