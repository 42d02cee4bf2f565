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

test('events that were applied, or ignored, are well', async () => {
  await insertEvents('processed', 2);
  await insertEvents('ignored', 2);
  assert.deepEqual(await checkPayments(pool, { paddleApiKey: null }, NOW), [
    { check: 'payment events', status: 'ok', symptom: 'All that came are applied.' },
  ]);
});

test('events that were given up, and those that are tried again, are counted apart', async () => {
  await insertEvents('failed', 2);
  await insertEvents('deferred', 3);
  const findings = await checkPayments(pool, { paddleApiKey: null }, NOW);
  assert.deepEqual(
    findings.map(({ status, symptom }) => [status, symptom]),
    [
      ['warning', 'Payment events were given up: 2. Nothing follows from them.'],
      ['warning', 'Payment events that could not be applied yet: 3.'],
    ],
  );
  const fix =
    'latchkey webhook list --status failed says why; then latchkey webhook replay --status failed --reason <text>, or latchkey webhook dismiss <event> --reason <text> for what is hopeless.';
  assert.equal(findings[0]?.fix, fix, 'commands that work as they stand');
});

test("with a key, it says how the comparison with Paddle's log goes, and why it does not", async () => {
  const findings: unknown[] = [];
  const look = async () => {
    const [, finding] = await checkPayments(pool, withKey, NOW);
    findings.push([finding?.status, finding?.symptom, finding?.cause]);
  };
  await look();
  await storeReconciliationCursor(pool, 'paddle', 'evt_1');
  await look();
  await recordReconciliation(pool, end('10', 'Paddle answers 403'));
  await look();
  await recordReconciliation(pool, end('11', null));
  await look();
  await recordReconciliation(pool, end('12', 'Paddle answers 404'));
  await look();
  const missed = 'Events of Paddle that never arrive are missed: its log was';
  assert.deepEqual(findings, [
    [
      'ok',
      'No event of Paddle has come yet; its log is compared from the first one on.',
      undefined,
    ],
    ['ok', "Paddle's log is being compared; its end has not been reached yet.", undefined],
    ['warning', `${missed} never read.`, 'Paddle answers 403.'],
    ['ok', "Paddle's log was compared to its end at 2027-03-01 11:00 UTC.", undefined],
    ['warning', `${missed} last read at 2027-03-01 11:00 UTC.`, 'Paddle answers 404.'],
  ]);
});

test("a comparison with Paddle's log that has not been made for hours is told, and so is one that never was", async () => {
  const look = async (now: string) => {
    const [, finding] = await checkPayments(pool, withKey, new Date(now));
    return [finding?.status, finding?.symptom];
  };
  const missed = 'Events of Paddle that never arrive are missed: its log was';
  await pool.query(
    `insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status)
     values ('evt_1', 'paddle', 'x', $1, $1, '', '{}', 'processed')`,
    ['2027-03-01T10:00:00Z'],
  );
  const notYet = ['ok', "Paddle's log has not been compared yet."];
  assert.deepEqual(await look('2027-03-01T13:00:00Z'), notYet);
  assert.deepEqual(await look('2027-03-01T13:00:01Z'), ['warning', `${missed} never read.`]);

  await recordReconciliation(pool, end('12', null));
  const compared = "Paddle's log was compared to its end at 2027-03-01 12:00 UTC.";
  assert.deepEqual(await look('2027-03-01T15:00:00Z'), ['ok', compared]);
  assert.deepEqual(await look('2027-03-01T15:00:01Z'), [
    'warning',
    `${missed} last read at 2027-03-01 12:00 UTC.`,
  ]);
});
