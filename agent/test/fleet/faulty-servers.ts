/** Servers in place of agents, which fail as real ones do. */
import { once } from 'node:events';
import { request as sendRequest } from 'node:https';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';

import { WebSocketServer } from 'ws';

/** Where a server listens. */
interface Address {
  readonly host: string;
  readonly port: number;
}

interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Starts a server that accepts connections and sends nothing, not even a TLS handshake. */
export async function startSilentServer(address: Address): Promise<AsyncDisposable> {
  return listen(createServer(), address);
}

/** Starts a server that accepts WebSockets and sends no message. */
export async function startMuteServer(address: Address, pair: KeyPair): Promise<AsyncDisposable> {
  const server = createTlsServer(pair, (_request, response) => void response.end('OK\n'));
  const webSockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) =>
    webSockets.handleUpgrade(request, socket, head, () => undefined),
  );
  return listen(server, address);
}

/** Starts a proxy that forwards requests without `Upgrade`, as nginx does unless it is configured to. */
export async function startPlainProxy(
  address: Address,
  pair: KeyPair,
  upstream: Address,
): Promise<AsyncDisposable> {
  const server = createTlsServer(pair, (request, response) => {
    const { upgrade: _, connection: __, ...headers } = request.headers;
    const { url: path, method } = request;
    const target = { ...upstream, path, method, headers, rejectUnauthorized: false };
    const forwarded = sendRequest({ ...target, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.once('error', () => void response.destroy());
    request.pipe(forwarded);
  });
  return listen(server, address);
}

async function listen(
  server: Server | TlsServer,
  { host, port }: Address,
): Promise<AsyncDisposable> {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket)).on('error', () => undefined);
  });
  await once(server.listen(port, host), 'listening');
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const each of connections) each.destroy();
      await closed;
    },
  };
}
