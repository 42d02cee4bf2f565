import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { Batcher, type BatchObserver, type Carrier } from '#server/db/batching/batcher.ts';
import { isDatabaseUnresponsive } from '#server/db/database-errors.ts';

import { freshProofs } from '../entitlements/proof.ts';
import { findLicensesByKeys, type KeyFinding, type KeyLookup } from './queries/find-by-key.ts';
import {
  countValidations,
  type ValidationFinding,
  type ValidationQuestion,
} from './queries/count-validations.ts';
import { listLicensesByTransactions, type LicenseRecord } from './queries/licenses.ts';
import { recordValidationsOf, type ValidationRecord } from './queries/record-validations.ts';
import type { LicenseTerms } from './rules/facts.ts';
import { readSoldTerms, type TermedLicense } from './terms.ts';

/** What the batches need of the context. */
export interface LicenseBatchContext {
  readonly clock: Clock;
  readonly pool: Pool;
}

/** Calls in one statement: larger batches gain nothing, and their last caller waits longer. */
const MAX_BATCH_SIZE = 256;

/**
 * Enough calls to make the overhead of a batch small; fewer wait for the batch under way. With 64, clients on 64 connections
 * never had two batches under way, and the service was idle during each commit.
 */
const OVERLAP_FROM = 16;

/** At 10,000 calls a second, the last of these waits for less than a second, which any client does. */
const MAX_QUEUE_LENGTH = 8_192;

/** The statements of the license operations that travel in batches. */
export interface LicenseBatches {
  readonly lookups: Carrier<KeyLookup, KeyFinding | null>;
  /** By the transaction's id: the licenses that it made. */
  readonly checks: Carrier<string, readonly LicenseRecord[]>;
  /** What a validation is about; counted already where it is valid by any rule. */
  readonly validations: Carrier<ValidationQuestion, ValidationFinding | null>;
  /** Counts a validation, or stores its token; false when the activation is not in use any more. */
  readonly validationRecords: Carrier<ValidationRecord, boolean>;
  /** Of a license whose product is no longer in the catalogue. */
  readonly soldTerms: Carrier<TermedLicense, LicenseTerms>;
}

/** Makes the batchers of the license operations. */
export function createLicenseBatches(
  ctx: LicenseBatchContext,
  observer: BatchObserver,
): LicenseBatches {
  const limits = {
    maxBatchSize: MAX_BATCH_SIZE,
    maxQueueLength: MAX_QUEUE_LENGTH,
    observer,
    isSilent: (error: unknown) => isDatabaseUnresponsive(ctx.pool, error),
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
      execute: (questions) => executeValidations(ctx, questions),
    }),
    validationRecords: new Batcher({
      ...limits,
      rowOf: (record) => record.activationId,
      name: 'validation_records',
      execute: (records) => executeRecords(ctx, records),
    }),
    soldTerms: new Batcher({
      ...limits,
      name: 'sold_terms',
      execute: (licenses) => readSoldTerms(ctx.pool, licenses),
    }),
  };
}

function executeValidations(
  { clock, pool }: LicenseBatchContext,
  questions: readonly ValidationQuestion[],
): Promise<readonly (ValidationFinding | null)[]> {
  const now = clock.now();
  return countValidations(pool, questions, { now, freshProofs: freshProofs(now) });
}

async function executeRecords(
  { clock, pool }: LicenseBatchContext,
  records: readonly ValidationRecord[],
): Promise<readonly boolean[]> {
  const inactive = await recordValidationsOf(pool, records, clock.now());
  return records.map(({ activationId }) => !inactive.has(activationId));
}
