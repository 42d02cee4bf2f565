import { X509Certificate } from 'node:crypto';

import { PROXY_NAME } from '../proxy-identity.ts';

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
