import type { FastifyReply, FastifyRequest } from 'fastify';
import { rateLimited, storageLow } from '#server/errors.ts';
import type { StorageQuota } from '#server/lib/storage-quota.ts';

/** The dependencies of limits on storage. */
export interface StorageLimits {
  readonly quota: StorageQuota;
  /** Whether the file system of the embedded database has hardly any room left. */
  readonly isDiskLow: () => boolean;
}

interface StorageOptions {
  readonly limits: StorageLimits;
  readonly clock: { now(): Date };
  /** Whether requests are refused while the disk is low: what licensing needs is not. */
  readonly needsDisk: boolean;
  /** Is called with the code of each refusal. */
  readonly onRefusal: (code: 'rate_limited' | 'storage_low') => void;
}

const RETRY_AFTER_SECONDS = 60;

/**
 * Makes a hook that refuses requests which would store more for a client network than its quota, and all of them while the
 * disk is low. Meant as a route's `onRequest`, so that the body of a refused request is not read.
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
