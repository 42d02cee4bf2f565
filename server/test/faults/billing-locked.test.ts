import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client } from 'pg';

import { startTestService } from '../harness.ts';
import { paddleId, paddleTransactionCompleted } from '../payment-providers/paddle-events.ts';
import { postPaddle } from '../payment-providers/paddle-steps.ts';
import { TEST_PRICES } from '../test-catalog.ts';

/** The timeout of payment providers. */
const PROVIDER_TIMEOUT_MS = 5_000;

const service = await startTestService();

interface Delivery {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly tookMs: number;
}

async function deliver(event: unknown): Promise<Delivery> {
  const startedAt = performance.now();
  const answer = await postPaddle(service, event);
  const tookMs = performance.now() - startedAt;
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), tookMs };
}

function purchase(transactionId = paddleId('txn')) {
  return paddleTransactionCompleted({ transactionId, lines: [{ priceId: TEST_PRICES.personal }] });
}

/**
 * Delivers events at once without a lock, and returns the longest time that a delivery may take with one. A busy machine
 * needs time for the deliveries alone, and more for their retries.
 */
async function measureLimit(count: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: count }, () => deliver(purchase())));
  assert.ok(answers.every(({ status }) => status === 200));
  return PROVIDER_TIMEOUT_MS + 3 * slowestOf(answers);
}

function slowestOf(answers: readonly Delivery[]): number {
  return Math.max(...answers.map(({ tookMs }) => tookMs));
}

/** Runs a function while another session holds a lock, as a forgotten psql session does. */
async function hold(statement: string, values: readonly string[] = []): Promise<Client> {
  const holder = new Client(service.database.connection.url);
  await holder.connect();
  await holder.query('begin');
  await holder.query(statement, [...values]);
  return holder;
}

test('while the lock of billing is held, every delivery is refused in time and applied later', async () => {
  const events = Array.from({ length: 300 }, () => purchase());
  const limitMs = await measureLimit(events.length);
  const holder = await hold(
    `select pg_advisory_xact_lock(hashtextextended('latchkey billing', 0))`,
  );
  try {
    const answers = await Promise.all(events.map(deliver));
    for (const { status, retryAfter } of answers) {
      assert.deepEqual([status, retryAfter], [503, '1']);
    }
    const lockedMs = slowestOf(answers);
    assert.ok(lockedMs < limitMs, `${lockedMs} of ${limitMs} ms`);
    assert.equal(await service.count('billing_events'), events.length);
  } finally {
    await holder.end();
  }
  const again = await Promise.all(events.map(deliver));
  assert.ok(again.every(({ status }) => status === 200));
  assert.equal(await service.count('licenses'), 2 * events.length);
});

test('a locked license delays only its own events, within the timeout of providers', async () => {
  const transactionId = paddleId('txn');
  await deliver(purchase(transactionId));
  const limitMs = await measureLimit(40);
  const { rows } = await service.pool.query(
    'select license_id from license_transactions where transaction_id = $1',
    [transactionId],
  );
  const holder = await hold('select from licenses where id = $1 for update', [rows[0]?.license_id]);
  const events = Array.from({ length: 40 }, () => purchase());
  const later = paddleTransactionCompleted({
    transactionId,
    lines: [{ priceId: TEST_PRICES.personal, quantity: 3 }],
    occurredAt: new Date(service.clock.now().getTime() + 1_000),
  });
  try {
    const [held, ...answers] = await Promise.all([deliver(later), ...events.map(deliver)]);
    assert.equal(held?.status, 503);
    assert.ok(answers.every(({ status }) => status === 200));
    const lockedMs = slowestOf([held, ...answers]);
    assert.ok(lockedMs < limitMs, `${lockedMs} of ${limitMs} ms`);
  } finally {
    await holder.end();
  }
  assert.equal((await deliver(later)).status, 200);
});
