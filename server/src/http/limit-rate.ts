import type { FastifyReply, FastifyRequest } from 'fastify';

import { rateLimited, storageLow } from '#server/errors.ts';
import type { RateLimiter, RateStanding } from '#server/lib/rate-limiter.ts';
import type { StorageQuota } from '#server/lib/storage-quota.ts';

interface RateLimitOptions {
  readonly limiter: RateLimiter;
  readonly clock: { now(): Date };
  /** Called for each request that is refused. */
  readonly onRefusal: () => void;
}

/**
 * Creates a hook that limits the request rate of each client, and reports it in `RateLimit-Policy` and `RateLimit`
 * (draft-ietf-httpapi-ratelimit-headers-11). For `onRequest` of a route, so that the body of a refused request is not
 * read.
 * @returns a hook that throws rateLimited (429)
 */
export function limitRate({ limiter, clock, onRefusal }: RateLimitOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const verdict = await limiter.take(request.clientNetwork, clock.now().getTime());
    const headers = describeStandings(verdict.standings);
    if (verdict.retryAfterSeconds === 0) {
      reply.headers(headers);
      return;
    }
    onRefusal();
    throw rateLimited(verdict.retryAfterSeconds, headers);
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

/** The dependencies of limits on storage. */
export interface StorageLimits {
  readonly quota: StorageQuota;
  /** Whether the file system of the embedded database is almost full. */
  readonly isDiskLow: () => boolean;
}

interface StorageOptions {
  readonly limits: StorageLimits;
  readonly clock: { now(): Date };
  /** Whether requests are refused while the disk is low; false for those that licensing needs. */
  readonly needsDisk: boolean;
  /** Called with the code of each refusal. */
  readonly onRefusal: (code: 'rate_limited' | 'storage_low') => void;
}

const RETRY_AFTER_SECONDS = 60;

/**
 * Creates a hook that refuses requests of a client network beyond its storage quota, and all requests while the disk is
 * low. For `onRequest` of a route, so that the body of a refused request is not read.
 * @returns a hook that throws rateLimited (429) or storageLow (503)
 */
export function limitStorage({ limits, clock, needsDisk, onRefusal }: StorageOptions) {
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    if (needsDisk && limits.isDiskLow()) {
      onRefusal('storage_low');
      done(storageLow(RETRY_AFTER_SECONDS));
      return;
    }
    const seconds = limits.quota.readWaitSeconds(request.clientNetwork, clock.now().getTime());
    if (seconds === 0) {
      done();
      return;
    }
    onRefusal('rate_limited');
    done(rateLimited(seconds));
  };
}
