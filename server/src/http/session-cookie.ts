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

/** Returns whether a host, with or without a port, is this machine. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * Returns the token of the session of a request; null if it has none. A cookie that another cookie name or another
 * transport would have is ignored.
 */
export function readSessionToken(headers: IncomingHttpHeaders, publicUrl: string): string | null {
  return readCookie(headers, isSecure(publicUrl) ? SECURE_NAME : LOOPBACK_NAME);
}

function readCookie(headers: IncomingHttpHeaders, name: string): string | null {
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
  if (!isSecure(publicUrl) && !isLoopbackHost(host ?? '')) throw httpsRequired();
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

/** Kept while the browser is at the identity provider, whose redirect is no request of the same site. */
const FLOW_NAME = 'latchkey-provider';

const FLOW_ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Lax';

/** Returns the `Set-Cookie` of a sealed sign-in with the identity provider. */
export function flowCookie(publicUrl: string, sealed: string, maxAgeSeconds: number): string {
  const attributes = `Max-Age=${maxAgeSeconds}; ${FLOW_ATTRIBUTES}`;
  return isSecure(publicUrl)
    ? `__Host-${FLOW_NAME}=${sealed}; ${attributes}; Secure`
    : `${FLOW_NAME}=${sealed}; ${attributes}`;
}

/** Returns the `Set-Cookie` that removes it. */
export function expiredFlowCookie(publicUrl: string): string {
  return flowCookie(publicUrl, '', 0);
}

/** Returns the sealed sign-in of a request; null if it has none. */
export function readFlowCookie(headers: IncomingHttpHeaders, publicUrl: string): string | null {
  return readCookie(headers, isSecure(publicUrl) ? `__Host-${FLOW_NAME}` : FLOW_NAME);
}

/**
 * `session`: a signed-in buyer; `code`: a browser that asked for a code; `known`: one that signed in with a code before;
 * `request`: the request of a machine, whose code was scanned.
 */
export type BuyerCookie = keyof typeof BUYER_NAMES;

const BUYER_NAMES = {
  session: 'latchkey-my',
  code: 'latchkey-my-code',
  known: 'latchkey-my-known',
  request: 'latchkey-my-request',
} as const;

/** Sent to the page for buyers alone; `__Host-` would send them with every request. */
const BUYER_ATTRIBUTES = 'Path=/my; HttpOnly; SameSite=Strict';

function buyerCookieName(publicUrl: string, cookie: BuyerCookie): string {
  const name = BUYER_NAMES[cookie];
  return isSecure(publicUrl) ? `__Secure-${name}` : name;
}

/**
 * Returns the `Set-Cookie` of a buyer.
 * @param value an empty one removes the cookie
 * @throws httpsRequired (403) where the cookie would cross a network in plain text
 */
export function buyerCookie(
  headers: IncomingHttpHeaders,
  publicUrl: string,
  cookie: BuyerCookie,
  value: string,
  maxAgeSeconds: number,
): string {
  requireSafeTransport(headers, publicUrl);
  const pair = `${buyerCookieName(publicUrl, cookie)}=${value}; Max-Age=${maxAgeSeconds}`;
  return `${pair}; ${BUYER_ATTRIBUTES}${isSecure(publicUrl) ? '; Secure' : ''}`;
}

/** Returns a cookie of a buyer; null if the request has none. */
export function readBuyerCookie(
  headers: IncomingHttpHeaders,
  publicUrl: string,
  cookie: BuyerCookie,
): string | null {
  return readCookie(headers, buyerCookieName(publicUrl, cookie));
}
