import type { FastifyReply, FastifyRequest } from 'fastify';
import { missingApiKey } from '#server/errors.ts';

/** Decides over the key that a request came with, and throws when it is not good for it. */
export type CheckApiKey = (presented: string) => Promise<unknown>;

const BEARER = /^Bearer +(?<token>\S.*)$/iu;

/**
 * Makes a hook that lets only requests with an API key pass, sent as `X-API-Key` or as `Authorization: Bearer`; the
 * former counts when both are there. Meant as a route's `preHandler`: a request that does not fit its schema is told so
 * first.
 * @param check for instance `authenticateApiKey` with the scope that the route asks for
 */
export function requireApiKey(check: CheckApiKey): (request: FastifyRequest) => Promise<void> {
  return async ({ headers }) => {
    const presented = headers['x-api-key'] ?? BEARER.exec(headers.authorization ?? '')?.[1];
    if (typeof presented !== 'string') throw missingApiKey();
    await check(presented);
  };
}

/** A hook that passes a request on, or refuses it. */
type CallbackHook = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void;

/**
 * Makes a hook for an operation that is open to all within a limit, which an API key in `X-API-Key` lifts. A key that is
 * not good for it is refused, so that its owner notices. Meant as a route's `preHandler`.
 * @param check for instance `authenticateApiKey` with the scope that lifts the limit
 * @param limit for instance `limitRate`
 */
export function limitUnlessApiKey(check: CheckApiKey, limit: CallbackHook) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const presented = request.headers['x-api-key'];
    if (presented === undefined) await runHook(limit, request, reply);
    else await check(String(presented));
  };
}

function runHook(hook: CallbackHook, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  return new Promise((resolve, reject) => {
    hook(request, reply, (error) => (error === undefined ? resolve() : reject(error)));
  });
}
