import type { FastifyReply, FastifyRequest } from 'fastify';

import { rateLimited } from '#server/errors.ts';
import type { RateLimiter, RateStanding } from '#server/lib/rate-limiter.ts';

interface RateLimitOptions {
  readonly limiter: RateLimiter;
  readonly clock: { now(): Date };
  /** Told of each request that is refused. */
  readonly onRefusal: () => void;
}

/**
 * Makes a hook that refuses the requests of a client that comes too often, and tells every client where it stands, in the
 * fields `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11). Meant as a route's `onRequest`, so
 * that the body of a refused request is not even read.
 * @returns a hook that throws rateLimited (429)
 */
export function limitRate({ limiter, clock, onRefusal }: RateLimitOptions) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const verdict = limiter.take(request.clientNetwork, clock.now().getTime());
    const headers = describeStandings(verdict.standings);
    if (verdict.retryAfterSeconds === 0) {
      reply.headers(headers);
      done();
      return;
    }
    onRefusal();
    done(rateLimited(verdict.retryAfterSeconds, headers));
  };
}

function describeStandings(standings: readonly RateStanding[]): Record<string, string> {
  return {
    'ratelimit-policy': standings.map(describePolicy).join(', '),
    ratelimit: standings.map(describeStanding).join(', '),
  };
}

function describePolicy({ policy }: RateStanding): string {
  return `"${policy.name}";q=${policy.quota};w=${Math.ceil(policy.windowSeconds)}`;
}

function describeStanding({ policy, remaining, resetSeconds }: RateStanding): string {
  return `"${policy.name}";r=${remaining};t=${resetSeconds}`;
}
