import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

import { PROXY_NAME } from '../proxy-identity.ts';
import type { TlsMaterial } from './tls-files.ts';

/** The maximum number of intermediate certificates. */
const MAX_DEPTH = 2;

const NONE = 'A client certificate is needed, and none was sent.';
const UNKNOWN_AUTHORITY = 'The client certificate is not from an authority of this agent.';
/** Viewers get it as the text of a 403, or as the reason of the closed connection. */
export const REVOKED_REASON = 'The client certificate was revoked.';
const EXPIRED = 'The client certificate has expired.';

const FAULTS: Readonly<Record<string, string>> = {
  CERT_REVOKED: REVOKED_REASON,
  CERT_HAS_EXPIRED: EXPIRED,
  CERT_NOT_YET_VALID: 'The client certificate is not valid yet: compare the clocks.',
  CRL_HAS_EXPIRED:
    'The list of revoked certificates is out of date, so all clients are rejected: renew it on the server.',
  UNABLE_TO_GET_CRL:
    'The list of revoked certificates is not of the authority of this client certificate.',
  INVALID_PURPOSE: 'The certificate is not for clients.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
};

/**
 * Explains why the handshake rejected a client's certificate.
 * @returns a sentence for the client; null when it is valid
 */
export function explainHandshake(socket: TLSSocket): string | null {
  if (socket.getPeerX509Certificate() === undefined) return NONE;
  if (socket.authorized) return null;
  const code = String(socket.authorizationError);
  return FAULTS[code] ?? `The client certificate is refused (${code}).`;
}

/**
 * Checks a client's certificate against the present files, which may have changed since its handshake. Node.js does not expose
 * intermediate certificates, so they must be among the authorities.
 * @returns a sentence for the client; null when it is valid
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
    if (revocations.isRevoked(current)) return REVOKED_REASON;
    const issuer = authorities.find((each) => isIssuedBy(current, each));
    if (issuer === undefined) return UNKNOWN_AUTHORITY;
    if (isIssuedBy(issuer, issuer)) return null;
    current = issuer;
  }
  return 'The client certificate has too many intermediate certificates.';
}

/**
 * Checks whether a valid certificate has expired, which is the only possible change while the files are the same.
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
 * Whether a certificate is the proxy's own, which is trusted to identify the client of a request.
 * @param certificate verified against the agent's authorities
 */
export function isProxyCertificate(certificate: X509Certificate): boolean {
  return certificate.subject === `CN=${PROXY_NAME}`;
}

/**
 * Parses the client certificate that a proxy forwards in a header: PEM, URL-encoded by nginx (`$ssl_client_escaped_cert`) or
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
    // The library ignores trailing bytes.
    return certificate.raw.length === bytes.length ? certificate : null;
  } catch {
    // Invalid URL encoding or DER: the caller rejects the request.
    return null;
  }
}
