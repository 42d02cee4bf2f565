import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

import { listenOnFreePort } from './ports.ts';

/** A server that speaks the protocol of Redis (RESP 2), and replies as the test says. */
export interface FakeRedis extends AsyncDisposable {
  /** `127.0.0.1:<port>` */
  readonly host: string;
  /** All connections so far. */
  readonly sockets: readonly Socket[];
}

/**
 * Starts the server.
 * @param reply returns the reply to a command, by its name and the number of the connection from 1; null: none
 */
export async function startFakeRedis(
  reply: (command: string, connection: number) => string | null,
): Promise<FakeRedis> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const connection = sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      for (const [, name = ''] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n([A-Z]+)/gu)) {
        const text = reply(name, connection);
        if (text !== null) socket.write(text);
      }
    });
  });
  const port = await listenOnFreePort(server);
  return {
    host: `127.0.0.1:${port}`,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
