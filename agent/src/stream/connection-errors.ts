import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

import { refuse } from './http-answers.ts';

const BROKEN_OFF = 'A TLS handshake failed: it was broken off.';

/**
 * Ends connections whose handshake or request fails, and tells of each once.
 * @param report gets the address of the visitor, undefined when it has gone already, and a sentence
 */
export function listenForTrouble(
  server: Server,
  report: (address: string | undefined, problem: string) => void,
): void {
  /** Connections whose handshake is under way. */
  const beginning = new Set<string>();
  const established = new WeakSet<Duplex>();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    const key = keyOf(socket);
    // One too many was told and ended already.
    if (socket.destroyed) return;
    beginning.add(key);
    socket.once('close', () => {
      // Who leaves during the handshake has no address any more where the library tells of it.
      if (beginning.delete(key) && server.listening) report(remoteAddress, BROKEN_OFF);
    });
  });
  server.on('secureConnection', (socket) => {
    established.add(socket);
    beginning.delete(keyOf(socket));
  });
  // Handshakes that fail end here too, after the library has told of them as `tlsClientError`.
  server.on('clientError', (error, socket) => {
    const address = addressOf(socket);
    if (established.has(socket)) {
      report(address, refuseRequest(error, socket));
      return;
    }
    if (address !== undefined && socket instanceof TLSSocket) {
      beginning.delete(keyOf(socket));
      report(address, explainTlsError(error));
    }
    socket.destroy();
  });
}

/** Where the other end of a connection is; undefined when it has gone. */
export function addressOf(socket: Duplex): string | undefined {
  return socket instanceof TLSSocket ? socket.remoteAddress : undefined;
}

/** The same for a connection and the TLS on it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function refuseRequest(error: Error, socket: Duplex): string {
  const isTooLarge = 'code' in error && error.code === 'HPE_HEADER_OVERFLOW';
  const why = isTooLarge ? 'its headers are too large' : 'it is no HTTP, or took too long';
  if (socket.writable) refuse(socket, isTooLarge ? 431 : 400, `Refused: ${why}.`);
  else socket.destroy();
  return `A request was refused: ${why}.`;
}

/** What OpenSSL and Node.js say about a handshake that failed, and what it means. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/HTTP_REQUEST/u, 'it spoke plain HTTP; the address begins with https:// or wss://.'],
  [/HANDSHAKE_TIMEOUT/u, 'it took too long.'],
  [/PEER_DID_NOT_RETURN_A_CERTIFICATE/u, 'it sent no client certificate.'],
  [/UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|INAPPROPRIATE_FALLBACK/u, 'it knows no TLS 1.2.'],
  [/NO_SHARED_CIPHER|NO_SUITABLE/u, 'it has no cipher in common.'],
  [/CERTIFICATE|UNKNOWN_CA|BAD_CERT/iu, 'one side did not take the certificate of the other.'],
  [/ECONNRESET|EPIPE/u, 'it was broken off.'],
];

/** A sentence about a handshake that failed; nothing that the visitor sent is in it. */
function explainTlsError(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  const meaning = MEANINGS.find(([pattern]) => pattern.test(code))?.[1] ?? `${code || 'unknown'}.`;
  return `A TLS handshake failed: ${meaning}`;
}
