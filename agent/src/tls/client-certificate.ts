import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

import { PROXY_NAME } from '../proxy-identity.ts';
import { readExtensions } from './certificate-extensions.ts';
import type { RevocationFault } from './revocations.ts';
import type { TlsMaterial } from './tls-files.ts';

/** The maximum number of intermediate certificates. */
const MAX_DEPTH = 2;

/** The purpose clientAuth of an extended key usage (RFC 5280, section 4.2.1.12). */
const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2';
/** The least size of an RSA key, in bits, and digests that are too weak: OpenSSL's security level 2, the default. */
const MIN_RSA_BITS = 2048;
const WEAK_DIGEST = /md[245]|sha-?1(?!\d)/iu;

const NONE = 'A client certificate is needed, and none was sent.';
const UNKNOWN_AUTHORITY = 'The client certificate is not from an authority of this agent.';
const UNREADABLE = 'The client certificate contains an extension that cannot be read.';
const WEAK = 'The client certificate has a weak key or signature.';
const NOT_FOR_CLIENTS = 'The certificate is not for clients.';
const NOT_YET_VALID = 'The client certificate is not valid yet: compare the clocks.';
const EXPIRED = 'The client certificate has expired.';
const TOO_DEEP = 'The client certificate has too many intermediate certificates.';
/** Viewers get it as the text of a 403, or as the reason of the closed connection. */
export const REVOKED_REASON = 'The client certificate was revoked.';

const REVOCATION_REASONS: Readonly<Record<RevocationFault, string>> = {
  revoked: REVOKED_REASON,
  outdated:
    'The list of revoked certificates is out of date, so all clients are rejected: renew it on the server.',
  unlisted: 'The list of revoked certificates is not of the authority of this client certificate.',
};

/**
 * Explains why the handshake rejected a certificate that `findCertificateFault` accepts.
 * @returns a sentence for the client; null when it is valid
 */
export function explainHandshake(socket: TLSSocket): string | null {
  if (socket.authorized) return null;
  return `The client certificate is refused (${String(socket.authorizationError)}).`;
}

/**
 * Decides whether a client's certificate is valid, by the present files, which may have changed since its handshake. The same rules
 * hold for a certificate that a client shows, and for one that a proxy forwards, of which no handshake was seen. Node.js does not
 * expose intermediate certificates, so they must be among the authorities.
 * @returns a sentence for the client; null when it is valid
 */
export function findCertificateFault(
  certificate: X509Certificate | undefined,
  clients: NonNullable<TlsMaterial['clients']>,
  now: Date,
): string | null {
  if (certificate === undefined) return NONE;
  try {
    return findPurposeFault(certificate) ?? findChainFault(certificate, clients, now);
  } catch (error) {
    if (error instanceof RangeError) return UNREADABLE;
    throw error;
  }
}

/** OpenSSL accepts an authority as a client, if its key usage allows that. A public certificate must not identify a client. */
function findPurposeFault(certificate: X509Certificate): string | null {
  const { ca, keyUsage: purposes } = certificate;
  const isForClients = purposes === undefined || purposes.includes(CLIENT_AUTHENTICATION);
  return !ca && isForClients && readExtensions(certificate).allowsHandshake
    ? null
    : NOT_FOR_CLIENTS;
}

/** Checks every certificate from the client's to that of a root. */
function findChainFault(
  certificate: X509Certificate,
  { authorities, revocations }: NonNullable<TlsMaterial['clients']>,
  now: Date,
): string | null {
  let current = certificate;
  for (let depth = 0; depth <= MAX_DEPTH; depth += 1) {
    const issuer = authorities.find((each) => isIssuedBy(current, each));
    if (issuer === undefined) return UNKNOWN_AUTHORITY;
    const fault = findOwnFault(current, now) ?? findOwnFault(issuer, now);
    if (fault !== null) return fault;
    const revocation = revocations.findFault(current, now);
    if (revocation !== null) return REVOCATION_REASONS[revocation];
    if (depth > readExtensions(issuer).maxDepth) return TOO_DEEP;
    if (isIssuedBy(issuer, issuer)) return null;
    current = issuer;
  }
  return TOO_DEEP;
}

/** Checks what concerns a certificate alone. The signature of a root is trusted as it is. */
function findOwnFault(certificate: X509Certificate, now: Date): string | null {
  if (now < certificate.validFromDate) return NOT_YET_VALID;
  const isWeak = hasWeakKey(certificate) || hasWeakSignature(certificate);
  if (isWeak) return WEAK;
  return readExtensions(certificate).hasUnknownCritical ? UNREADABLE : findExpiry(certificate, now);
}

function hasWeakKey({ publicKey }: X509Certificate): boolean {
  const bits = publicKey.asymmetricKeyDetails?.modulusLength;
  return bits !== undefined && bits < MIN_RSA_BITS;
}

function hasWeakSignature(certificate: X509Certificate): boolean {
  const { signatureAlgorithm = '' } = certificate;
  return WEAK_DIGEST.test(signatureAlgorithm) && !isIssuedBy(certificate, certificate);
}

/**
 * Checks whether a valid certificate has expired, which is the only possible change while the files are the same.
 * @returns a sentence for the client; null when it has not
 */
export function findExpiry(certificate: X509Certificate, now: Date): string | null {
  return certificate.validToDate < now ? EXPIRED : null;
}

/** Whether an authority issued a certificate, or is that certificate: a self-signed one that the agent's file lists. */
function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  const mayIssue = authority.ca || authority.raw.equals(certificate.raw);
  return mayIssue && certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
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
