import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { Batcher, type BatchObserver, type BatchQueue } from '#server/db/batching/batcher.ts';
import { isDatabaseUnresponsive } from '#server/db/database-errors.ts';

import { freshProofRange } from '../entitlements/issue-entitlement.ts';
import { findLicensesByKeys, type FoundLicense, type KeyLookup } from './queries/find-by-key.ts';
import { listLicensesByTransactions, type CheckoutLicense } from './queries/licenses.ts';
import {
  countValidations,
  recordValidations,
  type ValidationFacts,
  type ValidationRecord,
  type ValidationRequest,
} from './queries/validations.ts';
import type { LicenseTerms } from './rules/facts.ts';
import { readSoldTerms, type TermedLicense } from './terms.ts';

export interface LicenseBatchDependencies {
  readonly clock: Clock;
  readonly pool: Pool;
}

/** Calls in one statement: larger batches are not faster, and their last caller waits longer. */
const MAX_BATCH_SIZE = 256;

/**
 * Enough calls to make the overhead of a batch small; fewer wait for the running batch. With 64, clients on 64
 * connections never had two running batches, and the service was idle during each commit.
 */
const OVERLAP_FROM = 16;

/** At 10,000 calls a second, the last of these waits for less than a second, which every client tolerates. */
const MAX_QUEUE_LENGTH = 8_192;

/** The statements of the license operations that run in batches. */
export interface LicenseBatches {
  readonly lookups: BatchQueue<KeyLookup, FoundLicense | null>;
  /** From a transaction id to the licenses that it created or renewed. */
  readonly checks: BatchQueue<string, readonly CheckoutLicense[]>;
  readonly validations: BatchQueue<ValidationRequest, ValidationFacts | null>;
  /** Returns false when the activation has become inactive. */
  readonly validationRecords: BatchQueue<ValidationRecord, boolean>;
  /** For licenses whose product is no longer in the catalogue. */
  readonly soldTerms: BatchQueue<TermedLicense, LicenseTerms>;
}

/** Creates the batchers of the license operations. */
export function createLicenseBatches(
  { clock, pool }: LicenseBatchDependencies,
  observer: BatchObserver,
): LicenseBatches {
  const limits = {
    maxBatchSize: MAX_BATCH_SIZE,
    maxQueueLength: MAX_QUEUE_LENGTH,
    observer,
    isUnresponsive: (error: unknown) => isDatabaseUnresponsive(pool, error),
  };
  return {
    lookups: new Batcher({
      ...limits,
      name: 'license_lookups',
      execute: (lookups) => findLicensesByKeys(pool, lookups),
    }),
    checks: new Batcher({
      ...limits,
      name: 'transaction_checks',
      execute: (transactionIds) => listLicensesByTransactions(pool, transactionIds),
    }),
    validations: new Batcher({
      ...limits,
      rowOf: (request) => request.activationId,
      name: 'license_validations',
      overlapFrom: OVERLAP_FROM,
      execute(requests) {
        const now = clock.now();
        return countValidations(pool, requests, { now, freshProofs: freshProofRange(now) });
      },
    }),
    validationRecords: new Batcher({
      ...limits,
      rowOf: (record) => record.activationId,
      name: 'validation_records',
      async execute(records) {
        const inactive = await recordValidations(pool, records, clock.now());
        return records.map(({ activationId }) => !inactive.has(activationId));
      },
    }),
    soldTerms: new Batcher({
      ...limits,
      name: 'sold_terms',
      execute: (licenses) => readSoldTerms(pool, licenses),
    }),
  };
}
