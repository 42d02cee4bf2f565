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

/** Calls in one statement: larger batches gain nothing, and their last caller waits longer. */
const MAX_BATCH_SIZE = 256;

/** Enough calls to make the overhead of a batch small; fewer wait for the batch under way. */
const OVERLAP_FROM = 64;

/** At 10,000 calls a second, the last of these waits for less than a second, which any client does. */
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
