import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { PaddleApi } from '#server/features/billing/providers/paddle/paddle-api.ts';
import { recordReconciliation } from '#server/features/billing/queries/reconciliations.ts';

import { openTestPool } from '../../test/database-pool.ts';
import { countBacklog } from './count-backlog.ts';

const pool = await openTestPool();
const paddleApi: PaddleApi = { findCustomer: async () => null, listEvents: async () => [] };

beforeEach(async () => {
  await pool.query('truncate billing_reconciliations');
});

test("that Paddle's log could not be read counts as long as there is a key to read it with", async () => {
  assert.equal((await countBacklog({ pool, paddleApi })).isReconciliationFailing, false);
  const at = new Date();
  await recordReconciliation(pool, { provider: 'paddle', start: 'evt_1', at, failure: 'no' });
  assert.equal((await countBacklog({ pool, paddleApi })).isReconciliationFailing, true);
  assert.equal((await countBacklog({ pool, paddleApi: null })).isReconciliationFailing, false);
});
