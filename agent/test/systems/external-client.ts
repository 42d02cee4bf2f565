/**
 * A client outside of a machine, run in its network: `node external-client.ts '{"url": …}'` prints the answer as JSON. `wss:` reads
 * the first snapshot of a stream, other addresses are requested once. It verifies certificates like any client.
 */
import { on, once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { get as getSecurely } from 'node:https';
import type { LookupFunction } from 'node:net';
import { TLSSocket } from 'node:tls';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';

import type { TestResponse, TestRequest } from './request.ts';

const TIMEOUT_MS = 15_000;
const WATCH_TIMEOUT_MS = 90_000;

const { url, address, session, watchesToEnd, ...presented }: TestRequest = JSON.parse(
  process.argv[2] ?? '',
);
const signal = AbortSignal.timeout(watchesToEnd === true ? WATCH_TIMEOUT_MS : TIMEOUT_MS);
const resumed = session === undefined ? {} : { session: Buffer.from(session, 'base64') };
const credentials = { ...presented, ...resumed };

/** Resolves every name to the machine. */
const lookup: LookupFunction = (_host, { all }, done) => {
  if (all === true) done(null, [{ address, family: 4 }]);
  else done(null, address, 4);
};

async function sendRequest(): Promise<TestResponse> {
  return url.startsWith('wss:') ? readMessage() : readPage();
}

async function readPage(): Promise<TestResponse> {
  const request = url.startsWith('https:')
    ? getSecurely(url, { lookup, signal, agent: false, ...credentials })
    : get(url, { lookup, signal, agent: false });
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (response === undefined) throw new Error('There is no response.');
  return read(response);
}

async function readMessage(): Promise<TestResponse> {
  const socket = new WebSocket(url, { lookup, ...credentials });
  const refused = Promise.withResolvers<TestResponse>();
  let [serial, offered] = ['', ''];
  socket.once('upgrade', (response) => {
    serial = readSerial(response);
    noteSession(response, (found) => (offered = found));
  });
  socket.once('unexpected-response', (_request, response) => refused.resolve(read(response)));
  const reading = watchesToEnd === true ? readEnd(socket) : readSnapshot(socket);
  const snapshot = await Promise.race([reading, refused.promise]);
  return typeof snapshot === 'string'
    ? { status: 101, type: '', text: snapshot, serial, session: offered }
    : snapshot;
}

/**
 * @returns the reason that the server closes with
 */
async function readEnd(socket: WebSocket): Promise<string> {
  const [, reason] = await once(socket, 'close', { signal });
  return String(reason);
}

/** With TLS 1.3 it arrives after the handshake. */
function noteSession({ socket }: IncomingMessage, note: (found: string) => void): void {
  if (!(socket instanceof TLSSocket)) return;
  note(socket.getSession()?.toString('base64') ?? '');
  socket.on('session', (found: Buffer) => note(found.toString('base64')));
}

/** The first message is the greeting, and the last one when the viewer is refused then. */
async function readSnapshot(socket: WebSocket): Promise<string> {
  let message = '';
  for await (const [data] of on(socket, 'message', { signal, close: ['close'] })) {
    message = String(data);
    if (JSON.parse(message).type === 'snapshot') break;
  }
  return message;
}

async function read(response: IncomingMessage): Promise<TestResponse> {
  const serial = readSerial(response);
  const type = response.headers['content-type'] ?? '';
  const status = response.statusCode ?? 0;
  return { status, type, text: await text(response), serial, session: '' };
}

function readSerial({ socket }: IncomingMessage): string {
  // A resumed session has no server certificate.
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  return certificate?.serialNumber ?? '';
}

/** The answer of a connection that failed. */
function explain(error: unknown): TestResponse {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return { status: 0, type: '', text: String(code ?? error), serial: '', session: '' };
}

process.stdout.write(JSON.stringify(await sendRequest().catch(explain)), () => process.exit());
