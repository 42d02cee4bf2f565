/** What the routes of the operator interface about signing in share. */
import type { CurrentOperator } from '@latchkey/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { sessionCookie } from '#server/http/session-cookie.ts';

import type { Client, SessionDependencies } from './dependencies.ts';
import type { StartedSession } from './sessions.ts';

export function clientOf({ clientNetwork, headers }: FastifyRequest): Client {
  return { network: clientNetwork, userAgent: headers['user-agent'] ?? '' };
}

/** Sends a session: its token as a cookie, and its operator as the answer. */
export function sendSession(
  deps: SessionDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  started: StartedSession,
): CurrentOperator {
  const maxAge = maxAgeOf(started, deps.clock.now());
  const { publicUrl } = deps.config.http;
  reply.header('set-cookie', sessionCookie(request.headers, publicUrl, started.token, maxAge));
  return started.current;
}

/** In seconds, until the session ends at the latest. */
function maxAgeOf({ current: { expires_at: end } }: StartedSession, now: Date): number {
  return end === null ? 0 : Math.floor((Date.parse(end) - now.getTime()) / 1000);
}
