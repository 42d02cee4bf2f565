import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';

import { WebSocket } from 'ws';

import { explainAnswer, explainClose, explainError, WatchFailure } from './failure.ts';
import { MAX_MESSAGE_BYTES, type Message, readMessage } from './read-message.ts';
import type { Target } from './target.ts';
import { sanitize } from './text.ts';

const CONNECT_MS = 10_000;

/** The agent sends at least every minute; a longer silence means a half-open connection. */
const SILENCE_MS = 150_000;

const MAX_ANSWER_BYTES = 4096;
const SUBPROTOCOL = 'latchkey.snapshot.v1';

/**
 * Watches until the connection ends.
 * @param onMessage receives a hello first, then snapshots
 * @throws WatchFailure unless the signal ended it
 */
export async function watchOnce(
  target: Target,
  signal: AbortSignal,
  onMessage: (message: Message) => void,
): Promise<void> {
  let socket: TLSSocket | null = null;
  const cut = (): void => void socket?.destroy();
  signal.addEventListener('abort', cut);
  try {
    socket = await connectTls(target);
    if (signal.aborted) return;
    checkTrust(socket, target);
    await receive(upgrade(socket, target), target, onMessage);
  } catch (error) {
    if (!signal.aborted) throw explainError(error, target.address);
  } finally {
    signal.removeEventListener('abort', cut);
    socket?.destroy();
  }
}

/** Connects without verification by the library: `checkTrust` verifies the certificate with better explanations. */
async function connectTls({ host, port, secureContext, address }: Target): Promise<TLSSocket> {
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const options = { host, port, secureContext, rejectUnauthorized: false, ...servername };
  const socket = connect(options);
  const timer = setTimeout(() => {
    const text = `${address} did not answer in ${CONNECT_MS / 1000} seconds.`;
    socket.destroy(new WatchFailure('unreachable', text));
  }, CONNECT_MS);
  try {
    await once(socket, 'secureConnect');
  } finally {
    clearTimeout(timer);
  }
  return socket;
}

function upgrade(socket: TLSSocket, { url, token }: Target): WebSocket {
  return new WebSocket(url, [SUBPROTOCOL], {
    createConnection: () => socket,
    headers: token === null ? {} : { Authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: CONNECT_MS,
    followRedirects: false,
  });
}

/** Calls `onMessage` for each message until the connection fails. */
async function receive(
  webSocket: WebSocket,
  { address }: Target,
  onMessage: (message: Message) => void,
): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const silence = setTimeout(() => {
    reject(new WatchFailure('unreachable', `${address} has sent nothing for minutes.`));
  }, SILENCE_MS);
  let isGreeted = false;
  webSocket.on('message', (data: Buffer, isBinary: boolean) => {
    const message = isBinary ? null : readMessage(data.toString('utf8'));
    if (message === null || (message.kind === 'hello') === isGreeted) {
      reject(notAnAgent(address));
      webSocket.terminate();
      return;
    }
    isGreeted = true;
    silence.refresh();
    onMessage(message);
  });
  listenForEnd(webSocket, address, reject);
  try {
    return await promise;
  } finally {
    clearTimeout(silence);
    webSocket.terminate();
  }
}

function listenForEnd(
  webSocket: WebSocket,
  address: string,
  reject: (failure: unknown) => void,
): void {
  const refuse = async (response: IncomingMessage): Promise<void> =>
    reject(explainAnswer(response.statusCode ?? 0, await readAnswer(response), address));
  webSocket.once('unexpected-response', (_request, response) => {
    refuse(response).catch(reject);
  });
  webSocket.once('close', (code, reason) =>
    reject(explainClose(code, reason.toString('utf8'), address)),
  );
  webSocket.on('error', (error) => reject(isNetworkError(error) ? error : notAnAgent(address)));
}

/** Network errors have a code of the system or of TLS; others are about the protocol. */
function isNetworkError(error: Error): boolean {
  return 'code' in error && !String(error.code).startsWith('WS_');
}

function notAnAgent(address: string): WatchFailure {
  const text = `The server at ${address} does not send the messages of an agent of this version.`;
  return new WatchFailure('untrusted', text);
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    if (text.length > MAX_ANSWER_BYTES) break;
  }
  return text;
}

/**
 * Verifies the certificate of the agent before anything is sent.
 * @throws WatchFailure with what to do
 */
function checkTrust(socket: TLSSocket, target: Target): void {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) {
    throw new WatchFailure('untrusted', `${target.address} showed no certificate.`);
  }
  const shown = fingerprintOf(certificate);
  if (target.fingerprint !== null) {
    if (target.fingerprint === shown) return;
    const text = `${target.address} has another certificate than expected: its fingerprint is sha256:${shown}.`;
    throw new WatchFailure('untrusted', text);
  }
  if (socket.authorized) return;
  const code = String(socket.authorizationError);
  throw new WatchFailure('untrusted', explain(code, certificate, target));
}

function explain(code: string, certificate: X509Certificate, { address, host }: Target): string {
  if (code === 'CERT_HAS_EXPIRED') {
    const day = certificate.validToDate.toISOString().slice(0, 10);
    return `The certificate of ${address}, or one above it, has expired (its own ends on ${day}): renew it on the machine.`;
  }
  if (code === 'CERT_NOT_YET_VALID') {
    return `The certificate of ${address} is not valid yet: compare the clocks of both machines.`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = sanitize(certificate.subjectAltName ?? 'no name').slice(0, 200);
    return `The certificate of ${address} is not for ${host} but for ${names}: use one of these names.`;
  }
  return (
    `No known authority signed the certificate of ${address}. Use --ca FILE with its authority; or, if ` +
    `it is the agent's own, compare its fingerprint on the machine (openssl x509 -in FILE -noout -fingerprint -sha256) ` +
    `and use --fingerprint sha256:${fingerprintOf(certificate)}`
  );
}

function fingerprintOf(certificate: X509Certificate): string {
  return certificate.fingerprint256.replaceAll(':', '').toLowerCase();
}
