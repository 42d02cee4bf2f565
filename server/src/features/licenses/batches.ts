import { Batcher, type BatchObserver, type Carrier } from '#server/db/batching/batcher.ts';
import { isWholeDatabaseSilent } from '#server/db/silence.ts';

import { findLicensesByKeys, type KeyFinding, type KeyLookup } from './queries/find-by-key.ts';
import { listLicensesByTransactions, type LicenseRecord } from './queries/licenses.ts';
import {
  judgeValidations,
  type ValidationContext,
  type ValidationQuestion,
  type ValidationVerdict,
} from './validate-batch.ts';

/** Calls in one statement: larger batches win nothing more, and their last caller waits longer. */
const MAX_BATCH_SIZE = 256;

/** Enough calls that a batch of them spends little on itself; fewer wait for the batch that is under way. */
const OVERLAP_FROM = 64;

/** At 10,000 calls a second this many wait for less than a second; a client's patience is longer than that. */
const MAX_QUEUE_LENGTH = 8_192;

/** The statements of the license operations that travel in batches. */
export interface LicenseBatches {
  readonly lookups: Carrier<KeyLookup, KeyFinding | null>;
  /** By the transaction's id: the licenses that it made. */
  readonly checks: Carrier<string, readonly LicenseRecord[]>;
  readonly validations: Carrier<ValidationQuestion, ValidationVerdict>;
}

/** Makes the batchers of the license operations. */
export function createLicenseBatches(
  ctx: ValidationContext,
  observer: BatchObserver,
): LicenseBatches {
  const limits = {
    maxBatchSize: MAX_BATCH_SIZE,
    maxQueueLength: MAX_QUEUE_LENGTH,
    observer,
    isSilent: (error: unknown) => isWholeDatabaseSilent(ctx.pool, error),
  };
  return {
    lookups: new Batcher({
      ...limits,
      name: 'license_lookups',
      execute: (lookups) => findLicensesByKeys(ctx.pool, lookups),
    }),
    checks: new Batcher({
      ...limits,
      name: 'transaction_checks',
      execute: (transactionIds) => listLicensesByTransactions(ctx.pool, transactionIds),
    }),
    validations: new Batcher({
      ...limits,
      rowOf: (question) => question.activationId,
      name: 'license_validations',
      overlapFrom: OVERLAP_FROM,
      execute: (questions) => judgeValidations(ctx, questions),
    }),
  };
}
