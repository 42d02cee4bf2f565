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
export function explainTlsError(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  const meaning = MEANINGS.find(([pattern]) => pattern.test(code))?.[1] ?? `${code || 'unknown'}.`;
  return `A TLS handshake failed: ${meaning}`;
}
