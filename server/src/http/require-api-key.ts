import type { IncomingHttpHeaders } from 'node:http';

import type { FastifyReply, FastifyRequest } from 'fastify';
import { missingApiKey } from '#server/errors.ts';

/** Checks the API key of a request; throws if it is invalid or lacks the scope. */
export type CheckApiKey = (presented: string) => Promise<unknown>;

const BEARER = /^Bearer +(?<token>\S.*)$/iu;

/**
 * Creates a hook that requires an API key in `X-API-Key` or, without that, in `Authorization: Bearer`. For `preHandler` of a
 * route: the schema of the request is validated first.
 * @param check for example `authenticateApiKey` with the scope of the route
 */
export function requireApiKey(check: CheckApiKey): (request: FastifyRequest) => Promise<void> {
  return async ({ headers }) => {
    const presented = presentedApiKey(headers);
    if (presented === null) throw missingApiKey();
    await check(presented);
  };
}

/** Returns the API key of a request; null if it has none. */
export function presentedApiKey(headers: IncomingHttpHeaders): string | null {
  const presented = headers['x-api-key'] ?? BEARER.exec(headers.authorization ?? '')?.[1];
  return typeof presented === 'string' ? presented : null;
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * Creates a hook that limits requests without an API key in `X-API-Key`. An invalid key is rejected, so that its owner
 * notices. For `preHandler` of a route.
 * @param check for example `authenticateApiKey` with the scope that lifts the limit
 * @param limit for example `limitRate`
 */
export function limitUnlessApiKey(check: CheckApiKey, limit: Hook) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const presented = request.headers['x-api-key'];
    if (presented === undefined) await limit(request, reply);
    else await check(String(presented));
  };
}
