import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

import type { TlsMaterial } from './tls-files.ts';

/** As many certificates may stand between a client's and its authority's. */
const MAX_DEPTH = 2;

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

/** The certificate of a client and those above it, as far as they are known; empty when it showed none. */
export type Chain = readonly X509Certificate[];

/** What a client showed in its handshake. */
export function readChain(socket: TLSSocket): Chain {
  const chain: X509Certificate[] = [];
  let certificate = socket.getPeerX509Certificate();
  // The last one is its own issuer; a client can send as many as it likes.
  while (certificate !== undefined && chain.length < MAX_DEPTH + 3) {
    chain.push(certificate);
    const issuer = certificate.issuerCertificate;
    certificate = issuer?.fingerprint256 === certificate.fingerprint256 ? undefined : issuer;
  }
  return chain;
}

/**
 * What the handshake found wrong with a client's certificate.
 * @returns a sentence for the client; null when it is good
 */
export function explainHandshake(socket: TLSSocket, chain: Chain): string | null {
  if (chain.length === 0) return 'A client certificate is needed, and none was sent.';
  if (socket.authorized) return null;
  const code = String(socket.authorizationError);
  return FAULTS[code] ?? `The client certificate is refused (${code}).`;
}

/**
 * What is wrong with a client's certificate by the files as they are now, which may have changed since its handshake.
 * @returns a sentence for the client; null when it is good
 */
export function findChainFault(
  chain: Chain,
  clients: NonNullable<TlsMaterial['clients']>,
  now: Date,
): string | null {
  const [own] = chain;
  if (own === undefined) return 'A client certificate is needed, and none was sent.';
  if (own.validToDate < now) return EXPIRED;
  if (chain.some((each) => clients.revocations.isRevoked(each))) return REVOKED;
  const anchor = chain.findIndex((each) =>
    clients.authorities.some(
      (authority) => each.checkIssued(authority) && each.verify(authority.publicKey),
    ),
  );
  if (anchor === -1) return NOT_OURS;
  return anchor > MAX_DEPTH ? 'There are too many certificates above the client’s.' : null;
}
