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

test('a job is stored with its payload, its key under its name, and its time', async () => {
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

test('a job of a transaction that is rolled back is never there', async () => {
  const failing = inTransaction(pool, async (client) => {
    await addJobs(client, [{ name: 'send_key_email', payload: mail('txn_1') }]);
    throw new Error('no');
  });
  await assert.rejects(failing, /^Error: no$/);
  assert.deepEqual(await listStored(), []);
});

test('jobs with the same key are one, also within one call, and the last word counts', async () => {
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

test('transactions that add the same keys in opposite order all succeed', async () => {
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

test('a payload that the kind of job does not take is refused before it is stored', async () => {
  const payload = { provider: '', transactionId: 'x' };
  await assert.rejects(addJobs(pool, [{ name: 'send_key_email', payload }]));
  await addJobs(pool, []);
  assert.deepEqual(await listStored(), []);
});
