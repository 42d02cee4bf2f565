/** The cookie of operators' sessions. */
import type { IncomingHttpHeaders } from 'node:http';

import { httpsRequired } from '#server/errors.ts';

/**
 * The prefix makes browsers accept the cookie only with Secure and Path=/ and without a domain (RFC 6265bis §4.1.3.2), so that
 * no other host can set it.
 */
const SECURE_NAME = '__Host-latchkey';

/** On the plain HTTP of a loopback address. */
const LOOPBACK_NAME = 'latchkey';

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * Returns the token of the session of a request; null if it has none. A cookie that another cookie name or another
 * transport would have is ignored.
 */
export function readSessionToken(headers: IncomingHttpHeaders, publicUrl: string): string | null {
  const name = isSecure(publicUrl) ? SECURE_NAME : LOOPBACK_NAME;
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [key = '', value = ''] = pair.trim().split('=', 2);
    if (key === name && value !== '') return value;
  }
  return null;
}

/**
 * Returns the `Set-Cookie` of a new session.
 * @throws httpsRequired (403) where the cookie would cross a network in plain text
 */
export function sessionCookie(
  headers: IncomingHttpHeaders,
  publicUrl: string,
  token: string,
  maxAgeSeconds: number,
): string {
  if (isSecure(publicUrl)) {
    return `${SECURE_NAME}=${token}; Max-Age=${maxAgeSeconds}; ${ATTRIBUTES}; Secure`;
  }
  requireSafeTransport(headers, publicUrl);
  return `${LOOPBACK_NAME}=${token}; Max-Age=${maxAgeSeconds}; ${ATTRIBUTES}`;
}

/** @throws httpsRequired (403) where a password or cookie would cross a network in plain text */
export function requireSafeTransport({ host }: IncomingHttpHeaders, publicUrl: string): void {
  if (!isSecure(publicUrl) && !LOOPBACK.test(host ?? '')) throw httpsRequired();
}

/** Returns the `Set-Cookie` that removes the session. */
export function expiredCookie(publicUrl: string): string {
  return isSecure(publicUrl)
    ? `${SECURE_NAME}=; Max-Age=0; ${ATTRIBUTES}; Secure`
    : `${LOOPBACK_NAME}=; Max-Age=0; ${ATTRIBUTES}`;
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}
