/**
 * Before PostgreSQL 18, a join that a setting excludes costs 10,000,000,000, so that PostgreSQL compiled every statement of a payment where
 * it can (`jit`, on by default). A statement of 0.05 ms then took seconds on a busy machine, and webhooks were answered 503.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inTransactionOnce } from '#server/db/transaction.ts';
import { lockBilling } from '#server/features/billing/queries/ledger.ts';

import { openTestPool } from '../database-pool.ts';

const pool = await openTestPool();

test('PostgreSQL compiles no statement of a transaction with the lock of billing', async () => {
  const jit = await inTransactionOnce(pool, async (client) => {
    await client.query('set local jit = on');
    await lockBilling(client);
    return client.query<{ jit: string }>('show jit');
  });
  assert.deepEqual(jit.rows, [{ jit: 'off' }]);
});
