import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

import { codeOf } from '../errors.ts';
import { refuse } from './http-answers.ts';
import type { ReportClient } from './limits.ts';

const ABORTED = 'it was aborted';

/** Closes connections whose handshake or request fails, and reports each once. */
export function reportConnectionErrors(server: Server, report: ReportClient): void {
  /** Connections with a pending handshake. */
  const pending = new Set<string>();
  const established = new WeakSet<Duplex>();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    const key = keyOf(socket);
    // A connection beyond the limit was reported and closed already.
    if (socket.destroyed) return;
    pending.add(key);
    socket.once('close', () => {
      // The library reports a client that disconnects during the handshake without its address.
      if (pending.delete(key) && server.listening)
        report(remoteAddress, 'stream.handshake_failed', ABORTED);
    });
  });
  server.on('secureConnection', (socket) => {
    established.add(socket);
    pending.delete(keyOf(socket));
  });
  // Failed handshakes are reported here too, after `tlsClientError`.
  server.on('clientError', (error, socket) => {
    const address = addressOf(socket);
    if (established.has(socket)) {
      report(address, 'stream.request_refused', refuseRequest(error, socket));
      return;
    }
    if (address !== undefined && socket instanceof TLSSocket) {
      pending.delete(keyOf(socket));
      report(address, 'stream.handshake_failed', explainTlsError(error));
    }
    socket.destroy();
  });
}

/** Returns the peer's address; undefined when it has disconnected. */
export function addressOf(socket: Duplex): string | undefined {
  return socket instanceof TLSSocket ? socket.remoteAddress : undefined;
}

/** Returns the same key for a TCP connection and the TLS socket on it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function refuseRequest(error: Error, socket: Duplex): string {
  const isTooLarge = codeOf(error) === 'HPE_HEADER_OVERFLOW';
  const why = isTooLarge ? 'its headers are too large' : 'it is not HTTP, or timed out';
  if (socket.writable) refuse(socket, isTooLarge ? 431 : 400, `Refused: ${why}.`);
  else socket.destroy();
  return why;
}

/** Meanings of the error codes of OpenSSL and Node.js for failed handshakes. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/HTTP_REQUEST/u, 'it used plain HTTP; the address must begin with https:// or wss://'],
  [/HANDSHAKE_TIMEOUT/u, 'it timed out'],
  [/PEER_DID_NOT_RETURN_A_CERTIFICATE/u, 'it sent no client certificate'],
  [/UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|INAPPROPRIATE_FALLBACK/u, 'it does not support TLS 1.2'],
  [/NO_SHARED_CIPHER|NO_SUITABLE/u, 'there is no common cipher'],
  [/CERTIFICATE|UNKNOWN_CA|BAD_CERT/iu, 'one side rejected the certificate of the other'],
  [/ECONNRESET|EPIPE/u, ABORTED],
];

/** Explains a failed handshake, without data of the client. */
function explainTlsError(error: Error): string {
  const code = codeOf(error);
  return MEANINGS.find(([pattern]) => pattern.test(code))?.[1] ?? (code || 'unknown');
}
