import type { FastifyRequest } from 'fastify';

import { crossOrigin } from '#server/errors.ts';

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
  const own = new URL(origin);
  return own.origin === new URL(publicUrl).origin || own.host === host?.toLowerCase();
}
