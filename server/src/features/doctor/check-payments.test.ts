import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import {
  recordReconciliation,
  storeReconciliationCursor,
  type ReconciliationEnd,
} from '#server/features/billing/queries/reconciliations.ts';

import { openTestPool } from '../../../test/database-pool.ts';
import { checkPayments } from './check-payments.ts';

const pool = await openTestPool();

const withKey = { paddleApiKey: 'pdl_live_key' };

const NOW = new Date('2027-03-01T13:00:00Z');

beforeEach(async () => {
  await pool.query('truncate billing_events, billing_reconciliations');
});

async function insertEvents(status: string, count: number): Promise<void> {
  await pool.query(
    `insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status)
     select $1 || number, 'paddle', 'x', now(), now(), '', '{}', $1 from generate_series(1, $2) as number`,
    [status, count],
  );
}

const end = (hour: string, failure: string | null): ReconciliationEnd => ({
  provider: 'paddle',
  start: 'evt_1',
  at: new Date(`2027-03-01T${hour}:00:00Z`),
  failure,
});

test('finds no problem in applied and ignored events', async () => {
  await insertEvents('processed', 2);
  await insertEvents('ignored', 2);
  const findings = await checkPayments(pool, { paddleApiKey: null }, NOW);
  assert.deepEqual(
    findings.map(({ check, status }) => [check, status]),
    [['payment events', 'ok']],
  );
});

test('counts failed and deferred events separately', async () => {
  await insertEvents('failed', 2);
  await insertEvents('deferred', 3);
  const findings = await checkPayments(pool, { paddleApiKey: null }, NOW);
  assert.deepEqual(
    findings.map(({ status, code, facts }) => [status, code, facts]),
    [
      ['warning', 'payment_events.failed', { events: 2 }],
      ['warning', 'payment_events.deferred', { events: 3 }],
    ],
  );
  const fix = findings[0]?.fix ?? '';
  assert.match(fix, /latchkey webhook replay --status failed --reason <text>/u);
  assert.match(fix, /latchkey webhook dismiss <event> --reason <text>/u);
});

test('counts payments that need attention, and not what an operator dismissed', async () => {
  await insertEvents('processed', 4);
  await pool.query(
    `update billing_events set status = case event_id when 'processed2' then 'ignored' else status end,
            message = case event_id
              when 'processed1' then 'Needs attention: the amount is negative.'
              when 'processed2' then 'No product of the catalogue has the price pri_1.'
              when 'processed3' then 'dismissed: refunded'
            end`,
  );
  const findings = await checkPayments(pool, { paddleApiKey: null }, NOW);
  assert.deepEqual(
    findings.map(({ status, code, facts }) => [status, code, facts]),
    [['warning', 'payment_events.need_attention', { events: 2 }]],
  );
  assert.match(findings[0]?.fix ?? '', /latchkey webhook list --attention/u);
});

async function checkAt(now: Date): Promise<unknown[]> {
  const [, finding] = await checkPayments(pool, withKey, now);
  return [finding?.status, finding?.code, finding?.facts?.['reconciled_at']];
}

const OK = ['ok', undefined, undefined];

test("reports failures of the comparison with Paddle's event log", async () => {
  const findings = [await checkAt(NOW)];
  await storeReconciliationCursor(pool, 'paddle', 'evt_1');
  findings.push(await checkAt(NOW));
  for (const [hour, failure] of [
    ['10', 'Paddle answers 403'],
    ['11', null],
    ['12', 'Paddle answers 404'],
  ] as const) {
    await recordReconciliation(pool, end(hour, failure));
    findings.push(await checkAt(NOW));
  }
  assert.deepEqual(findings, [
    OK,
    OK,
    ['warning', 'reconciliation.failed', null],
    OK,
    ['warning', 'reconciliation.failed', new Date('2027-03-01T11:00:00Z')],
  ]);
  const [, last] = await checkPayments(pool, withKey, NOW);
  assert.equal(last?.cause, 'Paddle answers 404.');
});

test('reports a comparison that is older than three hours or was never made', async () => {
  await pool.query(
    `insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status)
     values ('evt_1', 'paddle', 'x', $1, $1, '', '{}', 'processed')`,
    ['2027-03-01T10:00:00Z'],
  );
  assert.deepEqual(await checkAt(new Date('2027-03-01T13:00:00Z')), OK);
  const never = ['warning', 'reconciliation.outdated', null];
  assert.deepEqual(await checkAt(new Date('2027-03-01T13:00:01Z')), never);

  await recordReconciliation(pool, end('12', null));
  assert.deepEqual(await checkAt(new Date('2027-03-01T15:00:00Z')), OK);
  assert.deepEqual(await checkAt(new Date('2027-03-01T15:00:01Z')), [
    'warning',
    'reconciliation.outdated',
    new Date('2027-03-01T12:00:00Z'),
  ]);
});
