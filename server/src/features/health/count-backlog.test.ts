import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { PaddleApi } from '../billing/providers/paddle/paddle-api.ts';
import { recordReconciliation } from '../billing/queries/reconciliations.ts';
import { storeRevenueBackfill } from '../billing/queries/revenue-backfill.ts';

import { openTestPool } from '../../../test/database-pool.ts';
import { createTestClock, HOUR_MS } from '../../../test/test-clock.ts';
import { countBacklog } from './count-backlog.ts';

const pool = await openTestPool();
const clock = createTestClock();
const catalog = () => ({ products: new Map() });
const paddleApi: PaddleApi = { findCustomer: async () => null, listEvents: async () => [] };

beforeEach(async () => {
  await pool.query(
    'truncate billing_reconciliations, billing_revenue_due, billing_payments, key_emails, webhook_endpoints, webhook_deliveries',
  );
});

test('reports a failed reconciliation while there is an API key', async () => {
  assert.equal(
    (await countBacklog({ pool, clock, paddleApi, gumroadApi: null, catalog }))
      .isReconciliationFailing,
    false,
  );
  const at = new Date();
  await recordReconciliation(pool, { provider: 'paddle', start: 'evt_1', at, failure: 'no' });
  assert.equal(
    (await countBacklog({ pool, clock, paddleApi, gumroadApi: null, catalog }))
      .isReconciliationFailing,
    true,
  );
  assert.equal(
    (await countBacklog({ pool, clock, paddleApi: null, gumroadApi: null, catalog }))
      .isReconciliationFailing,
    false,
  );
});

const countUndelivered = async () =>
  (await countBacklog({ pool, clock, paddleApi: null, gumroadApi: null, catalog })).undelivered;

const countRevenue = async () =>
  (await countBacklog({ pool, clock, paddleApi: null, gumroadApi: null, catalog })).revenue;

const hoursAgo = (hours: number) => new Date(clock.now().getTime() - hours * HOUR_MS);

test('counts e-mails with keys for a week after they were rejected for good', async () => {
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, reason, created_at, claimed_at)
     values ('1', 'paddle', 'refused', 'smtp_550', $1, $2), ('2', 'paddle', 'refused', 'unconfirmed', $1, $2),
            ('3', 'paddle', 'refused', 'smtp_550', $1, $1), ('4', 'paddle', 'sent', null, $1, $2),
            ('5', 'paddle', 'waiting', 'no_address', $1, null)`,
    [hoursAgo(7 * 24 + 1), hoursAgo(7 * 24 - 1)],
  );
  assert.deepEqual(await countUndelivered(), { keyEmails: 2, deliveries: 0, endpoints: 0 });
});

test('counts failed deliveries for a week, and disabled endpoints until they are enabled', async () => {
  const at = hoursAgo(240);
  const { rows } = await pool.query<{ id: string }>(
    `insert into webhook_endpoints (id, url, secret_sealed, created_at, disabled_at, disabled_reason)
     select gen_random_uuid(), 'https://example.com/', '', $1::timestamptz, case when reason <> '' then $1::timestamptz end, nullif(reason, '')
     from unnest(array['', 'operator', 'gone', 'failing']) with ordinality as incoming (reason, number)
     order by number
     returning id`,
    [at],
  );
  await pool.query(
    `insert into webhook_deliveries (message_id, endpoint_id, type, created_at, state, last_attempt_at, next_attempt_at)
     select message, endpoint, 'license.created', last, state, last, case when state = 'pending' then last end
     from unnest($1::uuid[]) as endpoint,
          (values ('late', 'failed', $2::timestamptz), ('old', 'failed', $3), ('open', 'pending', $2), ('good', 'delivered', $2))
            as incoming (message, state, last)`,
    [rows.map(({ id }) => id), hoursAgo(7 * 24 - 1), hoursAgo(7 * 24 + 1)],
  );
  assert.deepEqual(await countUndelivered(), { keyEmails: 0, deliveries: 3, endpoints: 2 });
});

test('counts reports of payments that revenue does not contain yet, and the age of the oldest', async () => {
  assert.deepEqual(await countRevenue(), { reports: 0, delaySeconds: 0, backfill: 0 });
  await pool.query(
    `insert into billing_revenue_due (provider, kind, id, marked_at)
     values ('paddle', 'transaction', 'txn_1', now() - interval '1 hour'), ('paddle', 'transaction', 'txn_2', now())`,
  );
  const { reports, delaySeconds } = await countRevenue();
  assert.equal(reports, 2);
  assert.ok(delaySeconds >= 3_600 && delaySeconds < 7_200, String(delaySeconds));
});

test('counts the payments that the backfill of revenue has not reached', async () => {
  await pool.query(
    `insert into billing_payments (transaction_id, provider, event_id, occurred_at, fact)
     select 'txn_' || id, 'paddle', 'evt_' || id, now(), '{}' from unnest(array['a', 'b', 'c']) as id`,
  );
  await storeRevenueBackfill(pool, { ...REACHED, finishedAt: null });
  assert.equal((await countRevenue()).backfill, 2);
  await storeRevenueBackfill(pool, { ...REACHED, finishedAt: new Date() });
  assert.equal((await countRevenue()).backfill, 0);
});

const REACHED = { transactionId: 'txn_a', provider: 'paddle', counted: 1 };
