/** What the routes of the operator interface about signing in share. */
import type { CurrentOperator } from '@latchkey/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { NO_SLOT, OWN_SLOTS } from '#server/http/database-slots.ts';
import type { OperatorAccess } from '#server/http/require-operator.ts';
import { sessionCookie } from '#server/http/session-cookie.ts';

import type { Client, SessionDependencies } from './dependencies.ts';
import type { StartedSession } from './sessions.ts';

export const PREFIX = '/api/v1/admin';
export const SESSION_TAGS = ['admin: session'];

export const PUBLIC = { access: 'public' } as const;
export const OWN: { access: OperatorAccess } = {
  access: { role: 'viewer', fresh: false, sessionOnly: true },
};
export const OWN_FRESH: { access: OperatorAccess } = {
  access: { role: 'viewer', fresh: true, sessionOnly: true },
};

export const PUBLIC_OWN_SLOTS = { ...PUBLIC, ...OWN_SLOTS } as const;
export const PUBLIC_NO_SLOT = { ...PUBLIC, ...NO_SLOT } as const;

export const GUESSABLE = ['rate_limited', 'cross_origin', 'https_required'] as const;

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
