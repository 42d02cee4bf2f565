import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isolateFailures } from '#server/db/batching/isolate-failures.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransactionOnce } from '#server/db/transaction.ts';
import {
  recordValidations,
  type ValidationRecord,
} from '#server/features/licenses/queries/validations.ts';

import { startTestService, type TestService } from '../harness.ts';
import { activate } from '../license-steps.ts';

const one = await startTestService();
const two = await startTestService({ beside: one });

const ACTIVATIONS = 80;
/** One batch lacks the last record, the other one the first. */
const MISSING = 20;
const ROUNDS = 15;

async function createActivations(): Promise<ValidationRecord[]> {
  return Array.fromAsync({ length: ACTIVATIONS }, async () => {
    const { license, licenseKey } = await one.issue();
    const { activation_id: activationId } = await activate(one, licenseKey);
    const answer = { installId: null, usageSharing: null, newProof: null, isCounted: false };
    return { licenseId: license.id, activationId, ...answer };
  });
}

/** On a busy machine a batch waits for another one longer than the service lets it. */
const PATIENT = { lockTimeoutMs: 0 };

/** Counts a batch of validations in the order of the records. */
async function count(service: TestService, records: readonly ValidationRecord[]): Promise<void> {
  const { pool, clock } = service;
  const results = await isolateFailures(records, async (part) => {
    const record = (client: Queryable) => recordValidations(client, part, clock.now());
    await inTransactionOnce(pool, record, PATIENT);
    return part;
  });
  assert.ok(results.every(({ ok }) => ok));
}

test('two processes count overlapping batches in opposite orders exactly', async () => {
  const records = await createActivations();
  const forwards = records.slice(0, -MISSING);
  const backwards = records.slice(MISSING).reverse();
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all([
      count(one, forwards),
      count(two, backwards),
      count(one, backwards),
      count(two, forwards),
    ]);
  }
  const { rows } = await one.pool.query<{ id: string; validation_count: number }>(
    'select id, validation_count from activations',
  );
  const counts = new Map(rows.map((row) => [row.id, row.validation_count]));
  records.forEach(({ activationId }, index) => {
    const batches = Number(index < ACTIVATIONS - MISSING) + Number(index >= MISSING);
    assert.equal(counts.get(activationId), 2 * ROUNDS * batches);
  });
});
