import type { FastifyRequest } from 'fastify';

import { crossOrigin } from '#server/errors.ts';

import { isLoopbackHost } from './session-cookie.ts';

/**
 * Rejects a change that a page of another origin may have sent with the operator's cookie.
 * @param publicUrl also its origin is accepted, because a proxy may replace Host
 * @throws crossOrigin (403)
 */
export function requireSameOrigin({ headers }: FastifyRequest, publicUrl: string): void {
  const { origin, 'content-type': type = '' } = headers;
  const isSameOrigin =
    origin === undefined
      ? headers['sec-fetch-site'] === 'same-origin'
      : isOwnOrigin(origin, headers.host, publicUrl);
  // A form of another origin can send neither this type nor, without a preflight, any other header.
  if (!isSameOrigin || !/^application\/json\s*(?:;|$)/i.test(type)) throw crossOrigin();
}

/**
 * Rejects a request without a session that a page of another origin sent, such as a sign-in to the attacker's account. A
 * program sends neither header.
 * @throws crossOrigin (403)
 */
export function refuseOtherOrigins({ headers }: FastifyRequest, publicUrl: string): void {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers;
  const isAllowed =
    origin === undefined ? site === 'same-origin' : isOwnOrigin(origin, headers.host, publicUrl);
  if (!isAllowed) throw crossOrigin();
}

function isOwnOrigin(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const sender = new URL(origin);
  const own = new URL(publicUrl);
  if (sender.origin === own.origin) return true;
  // An attacker who controls the network can create a page of plain HTTP under any name, also under that of the service.
  const isProtected =
    own.protocol === 'http:' || sender.protocol === 'https:' || isLoopbackHost(sender.host);
  return isProtected && sender.host === host?.toLowerCase();
}
