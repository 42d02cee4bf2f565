/**
 * A viewer of the stream, run in a machine's network: `node viewer.ts '{"url": …}'` prints what became of it as JSON.
 * It verifies the server's certificate like any other client.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';

import type { Sight, ViewerOptions } from './view.ts';

const TIMEOUT_MS = 15_000;

async function view(options: ViewerOptions): Promise<Sight> {
  const { url, address, ca, cert, key } = options;
  const socket = new WebSocket(url, {
    ca,
    ...(cert === undefined ? {} : { cert, key }),
    handshakeTimeout: TIMEOUT_MS,
    lookup: (_host, _options, done) => done(null, [{ address, family: 4 }]),
  });
  const refused = Promise.withResolvers<Sight>();
  socket.once('unexpected-response', (_request, response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    response.once('end', () => refused.resolve({ status: response.statusCode ?? 0, text }));
  });
  socket.once('error', (error: Error & { code?: string }) =>
    refused.resolve({ status: 0, text: error.code ?? error.message }),
  );
  return Promise.race([refused.promise, readMessage(socket)]);
}

async function readMessage(socket: WebSocket): Promise<Sight> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const [data]: unknown[] = await once(socket, 'message', { signal });
  return { status: 101, text: String(data) };
}

const options: ViewerOptions = JSON.parse(process.argv[2] ?? '');
process.stdout.write(JSON.stringify(await view(options)));
process.exit();
