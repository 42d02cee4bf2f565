import { once } from 'node:events';
import { createServer } from 'node:https';
import { TLSSocket } from 'node:tls';

import type { Certificate } from './certificates.ts';

/** A server in place of an agent that records each upgrade and answers it with 418. */
interface RecordingAgent extends Disposable {
  readonly port: number;
  /** For each upgrade: `sni`, `url`, `http` and its headers. */
  readonly seen: readonly Readonly<Record<string, unknown>>[];
}

export async function startRecordingAgent(certificate: Certificate): Promise<RecordingAgent> {
  const seen: Record<string, unknown>[] = [];
  const server = createServer(certificate).listen(0, '127.0.0.1');
  server.on('upgrade', ({ url, httpVersion, headers }, socket) => {
    const sni = socket instanceof TLSSocket ? socket.servername : null;
    seen.push({ sni, url, http: httpVersion, ...headers });
    socket.end('HTTP/1.1 418 Seen\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('There is no port.');
  return { port: address.port, seen, [Symbol.dispose]: () => void server.close() };
}
