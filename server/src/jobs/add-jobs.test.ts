import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { inTransaction } from '#server/db/transaction.ts';

import { openTestPool } from '../../test/database-pool.ts';
import { addJobs } from './add-jobs.ts';

const pool = await openTestPool();

async function listStored() {
  const { rows } = await pool.query(
    `select name, payload, key, max_attempts as tries, priority, run_at > now() as later from jobs order by id`,
  );
  return rows;
}

const mail = (transactionId: string) => ({ provider: 'paddle', transactionId });

beforeEach(async () => {
  await pool.query('truncate jobs');
});

test('stores a job with its payload, its name and key, and its time', async () => {
  await addJobs(pool, [{ name: 'send_key_email', payload: mail('txn_1') }]);
  const runAt = new Date(Date.now() + 3_600_000);
  const customer = { provider: 'paddle', customerId: 'ctm_1' };
  await addJobs(pool, [
    { name: 'look_up_customer', payload: customer, key: 'ctm_1', runAt, maxAttempts: 3 },
  ]);
  assert.deepEqual(await listStored(), [
    {
      name: 'send_key_email',
      payload: mail('txn_1'),
      key: null,
      tries: 25,
      priority: -10,
      later: false,
    },
    {
      name: 'look_up_customer',
      payload: customer,
      key: 'look_up_customer:ctm_1',
      tries: 3,
      priority: -10,
      later: true,
    },
  ]);
});

test('stores no job of a transaction that is rolled back', async () => {
  const failing = inTransaction(pool, async (client) => {
    await addJobs(client, [{ name: 'send_key_email', payload: mail('txn_1') }]);
    throw new Error('no');
  });
  await assert.rejects(failing, /^Error: no$/);
  assert.deepEqual(await listStored(), []);
});

test('keeps one job of a key, the last one, also within one call', async () => {
  await addJobs(pool, [{ name: 'send_key_email', payload: mail('txn_0'), key: 'a' }]);
  await addJobs(pool, [
    { name: 'send_key_email', payload: mail('txn_1'), key: 'a' },
    { name: 'send_key_email', payload: mail('txn_2'), key: 'a' },
    { name: 'send_key_email', payload: mail('txn_3') },
    { name: 'send_key_email', payload: mail('txn_3') },
  ]);
  const stored = (await listStored()).map(({ key, payload }) => [key, payload.transactionId]);
  assert.deepEqual(stored, [
    ['send_key_email:a', 'txn_2'],
    [null, 'txn_3'],
    [null, 'txn_3'],
  ]);
});

test('adds the same keys from transactions in opposite orders', async () => {
  const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
  await Promise.all(
    Array.from({ length: 12 }, (_, index) => addAll(index % 2 === 0 ? keys : keys.toReversed())),
  );
  assert.equal((await listStored()).length, keys.length);
});

function addAll(keys: readonly string[]): Promise<void> {
  return inTransaction(pool, (client) =>
    addJobs(
      client,
      keys.map((key) => ({ name: 'send_key_email', payload: mail(key), key })),
    ),
  );
}

test('rejects a payload that does not match its kind of job', async () => {
  const payload = { provider: '', transactionId: 'x' };
  await assert.rejects(addJobs(pool, [{ name: 'send_key_email', payload }]));
  await addJobs(pool, []);
  assert.deepEqual(await listStored(), []);
});
