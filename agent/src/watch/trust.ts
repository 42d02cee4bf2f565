import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

import { WatchFailure } from './failure.ts';
import type { Target } from './target.ts';
import { clean } from './text.ts';

/**
 * Looks whether it is the agent that answers, before anything is said to it.
 * @throws WatchFailure which says what to do
 */
export function checkTrust(socket: TLSSocket, target: Target): void {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) {
    throw new WatchFailure('untrusted', `${target.address} showed no certificate.`);
  }
  const shown = fingerprintOf(certificate);
  if (target.fingerprint !== null) {
    if (target.fingerprint === shown) return;
    const text = `${target.address} has another certificate than the one that was named: its fingerprint is sha256:${shown}.`;
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
    const names = clean(certificate.subjectAltName ?? 'no name').slice(0, 200);
    return `The certificate of ${address} is not for ${host} but for ${names}: use a name that it is for.`;
  }
  return (
    `No authority that is known here has signed the certificate of ${address}. Give its authority with --ca FILE; or, if ` +
    `it is the agent's own, compare its fingerprint on the machine (openssl x509 -in FILE -noout -fingerprint -sha256) ` +
    `and give --fingerprint sha256:${fingerprintOf(certificate)}`
  );
}

function fingerprintOf(certificate: X509Certificate): string {
  return certificate.fingerprint256.replaceAll(':', '').toLowerCase();
}
