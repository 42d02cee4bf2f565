import type { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

import { CLIENT_ADDRESS_HEADER, CLIENT_CERTIFICATE_HEADER } from '../proxy-identity.ts';
import {
  explainHandshake,
  findCertificateFault,
  isProxyCertificate,
  readProxiedCertificate,
} from '../tls/client-certificate.ts';
import type { TlsMaterial } from '../tls/tls-files.ts';
import { isLoopback } from './limits.ts';
import { addressOf } from './connection-errors.ts';

/** The client of a request: the peer of the connection, or the client of a trusted proxy. */
export interface Peer {
  /** Undefined when the peer has disconnected already. */
  readonly address: string | undefined;
  /** Whether a trusted proxy reported the address. */
  readonly isProxied: boolean;
  /** The client's certificate and that of the proxy; empty without mutual TLS, and with a fault. */
  readonly certificates: readonly X509Certificate[];
  /** The problem of the certificate, as a sentence for the client; null when it is valid, or none is required. */
  readonly certificateFault: string | null;
}

/** The trust settings. */
interface PeerRules {
  readonly clients: TlsMaterial['clients'];
  /** Whether the agent listens on a loopback address, so that only a proxy and other local programs reach it. */
  readonly isBehindProxy: boolean;
  readonly now: Date;
}

const NOT_FORWARDED =
  'The proxy did not forward the client certificate: update its configuration (latchkey-agent install).';
const UNREADABLE = 'The proxy forwarded a client certificate that cannot be read.';

/**
 * Identifies the client of a request. The headers of a proxy are trusted with mutual TLS only from a peer that shows the proxy's
 * certificate; without it, from loopback peers of an agent that listens on loopback only.
 */
export function identifyPeer(
  headers: IncomingHttpHeaders,
  socket: Duplex,
  { clients, isBehindProxy, now }: PeerRules,
): Peer {
  const address = addressOf(socket);
  const direct = { address, isProxied: false, certificates: [], certificateFault: null };
  if (clients === null || !(socket instanceof TLSSocket)) {
    const isTrusted = isBehindProxy && isLoopback(address);
    return isTrusted ? { ...direct, ...readAddress(headers, direct) } : direct;
  }
  const own = socket.getPeerX509Certificate();
  const certificateFault = findCertificateFault(own, clients, now) ?? explainHandshake(socket);
  if (certificateFault !== null || own === undefined) return { ...direct, certificateFault };
  if (!isProxyCertificate(own)) return { ...direct, certificates: [own] };
  return { ...readAddress(headers, direct), ...identifyClient(headers, own, { clients, now }) };
}

/** Verifies the client certificate that the proxy forwards again, since the proxy may use an old revocation list. */
function identifyClient(
  headers: IncomingHttpHeaders,
  proxy: X509Certificate,
  { clients, now }: { readonly clients: NonNullable<PeerRules['clients']>; readonly now: Date },
): Pick<Peer, 'certificateFault' | 'certificates'> {
  const header = readHeader(headers, CLIENT_CERTIFICATE_HEADER);
  if (header === null) return { certificates: [], certificateFault: NOT_FORWARDED };
  const certificate = readProxiedCertificate(header);
  if (certificate === null) return { certificates: [], certificateFault: UNREADABLE };
  const certificateFault = findCertificateFault(certificate, clients, now);
  const certificates = certificateFault === null ? [certificate, proxy] : [];
  return { certificates, certificateFault };
}

function readAddress(
  headers: IncomingHttpHeaders,
  direct: Pick<Peer, 'address' | 'isProxied'>,
): Pick<Peer, 'address' | 'isProxied'> {
  const address = readHeader(headers, CLIENT_ADDRESS_HEADER);
  const isProxied = address !== null && isIP(address) !== 0;
  return isProxied ? { address, isProxied } : { ...direct, isProxied: false };
}

/** @returns null for a header that is missing or empty */
function readHeader(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' && value !== '' ? value : null;
}
