import type { FastifyRequest } from 'fastify';
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
