import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

import { PROXY_NAME } from '../proxy-identity.ts';
import type { TlsMaterial } from './tls-files.ts';

/** As many certificates may stand between a client's and the root. */
const MAX_DEPTH = 2;

const NONE = 'A client certificate is needed, and none was sent.';
const NOT_OURS = 'The client certificate is not from an authority of this agent.';
const REVOKED = 'The client certificate was revoked.';
const EXPIRED = 'The client certificate has expired.';

const FAULTS: Readonly<Record<string, string>> = {
  CERT_REVOKED: REVOKED,
  CERT_HAS_EXPIRED: EXPIRED,
  CERT_NOT_YET_VALID: 'The client certificate is not valid yet: compare the clocks.',
  CRL_HAS_EXPIRED:
    'The list of revoked certificates is out of date, so nobody is let in: renew it on the server.',
  UNABLE_TO_GET_CRL:
    'The list of revoked certificates is not of the authority of this client certificate.',
  INVALID_PURPOSE: 'The certificate is not for clients.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_OURS,
  UNABLE_TO_GET_ISSUER_CERT: NOT_OURS,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_OURS,
  DEPTH_ZERO_SELF_SIGNED_CERT: NOT_OURS,
  SELF_SIGNED_CERT_IN_CHAIN: NOT_OURS,
};

/**
 * What the handshake found wrong with a client's certificate.
 * @returns a sentence for the client; null when it is good
 */
export function explainHandshake(socket: TLSSocket): string | null {
  if (socket.getPeerX509Certificate() === undefined) return NONE;
  if (socket.authorized) return null;
  const code = String(socket.authorizationError);
  return FAULTS[code] ?? `The client certificate is refused (${code}).`;
}

/**
 * What is wrong with a client's certificate by the files as they are now, which may have changed since its handshake.
 * Node.js does not tell a server which certificates stand between, so they must be among the authorities.
 * @returns a sentence for the client; null when it is good
 */
export function findCertificateFault(
  certificate: X509Certificate | undefined,
  { authorities, revocations }: NonNullable<TlsMaterial['clients']>,
  now: Date,
): string | null {
  if (certificate === undefined) return NONE;
  const expiry = findExpiry(certificate, now);
  if (expiry !== null) return expiry;
  let current = certificate;
  for (let depth = 0; depth <= MAX_DEPTH; depth += 1) {
    if (revocations.isRevoked(current)) return REVOKED;
    const issuer = authorities.find((each) => isIssuedBy(current, each));
    if (issuer === undefined) return NOT_OURS;
    if (isIssuedBy(issuer, issuer)) return null;
    current = issuer;
  }
  return 'There are too many certificates above the client’s.';
}

/**
 * Whether a certificate that was good has expired since: nothing else becomes of it while the files stay the same.
 * @returns a sentence for the client; null when it has not
 */
export function findExpiry(certificate: X509Certificate, now: Date): string | null {
  return certificate.validToDate < now ? EXPIRED : null;
}

function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

const ARMOUR = /-----(?:BEGIN|END) CERTIFICATE-----|\s/gu;
const BASE64 = /^[A-Za-z\d+/]+={0,2}$/u;

/**
 * Whether a certificate is the proxy's own, which is trusted to name the client of a request.
 * @param certificate was verified against the agent's authorities before
 */
export function isProxyCertificate(certificate: X509Certificate): boolean {
  return certificate.subject === `CN=${PROXY_NAME}`;
}

/**
 * Reads the client certificate that a proxy passes on in a header: PEM, URL-encoded by nginx (`$ssl_client_escaped_cert`) or
 * with spaces as line ends by Apache, or DER in base64 by HAProxy and Caddy.
 * @returns null when it is not exactly one certificate
 */
export function readProxiedCertificate(header: string): X509Certificate | null {
  try {
    const text = header.includes('%') ? decodeURIComponent(header) : header;
    const base64 = text.replaceAll(ARMOUR, '');
    if (!BASE64.test(base64)) return null;
    const bytes = Buffer.from(base64, 'base64');
    const certificate = new X509Certificate(bytes);
    // What follows a certificate is ignored by the library.
    return certificate.raw.length === bytes.length ? certificate : null;
  } catch {
    // Invalid URL encoding or DER: the caller rejects the request.
    return null;
  }
}
