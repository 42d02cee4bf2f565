import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { openTestPool } from '../../../../test/database-pool.ts';
import { createTestClock, DAY_MS } from '../../../../test/test-clock.ts';
import { isUsable, licenseStatus } from '../../licenses/rules/status.ts';
import { dayOf } from '../rules/days.ts';
import { runRollups } from './run-rollups.ts';

const pool = await openTestPool();
const clock = createTestClock();
const { signal } = new AbortController();
const rollUp = () =>
  runRollups({ pool, clock, readDatabaseTime: async () => clock.now() }, { signal });

const NOW = new Date('2027-03-10T12:00:00Z');

beforeEach(async () => {
  await pool.query('truncate licenses, license_days, rollup_marks');
  clock.set(NOW);
});

const NO_FACTS = {
  subscription: false,
  expiresAt: null,
  cancelScheduledFor: null,
  canceledAt: null,
  pausedAt: null,
  suspendedAt: null,
  disputedAt: null,
  refundedAt: null,
  revokedAt: null,
};

type Facts = Readonly<Record<Exclude<keyof typeof NO_FACTS, 'subscription'>, Date | null>> & {
  readonly subscription: boolean;
};

async function store(facts: Partial<Facts>, createdAt: Date, trial = false): Promise<Facts> {
  const all = { ...NO_FACTS, ...facts };
  await pool.query(
    `insert into licenses (id, product_id, tier, features, max_activations, trial, key_sealed, key_hint, created_at, subscription,
       expires_at, cancel_scheduled_for, canceled_at, paused_at, suspended_at, disputed_at, refunded_at, revoked_at)
     values (gen_random_uuid(), 'personal', 'personal', '{}', 2, $1, '', '', $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [trial, createdAt, ...Object.values(all)],
  );
  return all;
}

const readDays = async (): Promise<unknown[]> =>
  (
    await pool.query(
      `select to_char(day, 'YYYY-MM-DD') as day, usable, created from license_days order by day`,
    )
  ).rows;

const day = (ago: number): Date => new Date(NOW.getTime() - ago * DAY_MS);

test('counts licenses by the rule of their status, and new ones by day', async () => {
  const stored: readonly (readonly [Partial<Facts>, createdAgo: number])[] = [
    [{}, 100],
    [{}, 2],
    [{}, 0],
    [{ revokedAt: day(1) }, 5],
    [{ refundedAt: day(3) }, 5],
    [{ expiresAt: day(2) }, 5],
    [{ expiresAt: day(-2) }, 5],
    [{ expiresAt: day(2), subscription: true }, 5],
    [{ expiresAt: day(20), subscription: true }, 40],
    [{ expiresAt: day(2), subscription: true, cancelScheduledFor: day(1) }, 40],
    [{ pausedAt: day(-1) }, 5],
    [{ canceledAt: day(1), suspendedAt: day(4) }, 5],
    [{ disputedAt: day(90) }, 100],
  ];
  const licenses: Facts[] = [];
  for (const [facts, ago] of stored) licenses.push(await store(facts, day(ago)));
  await store({}, day(1), true);
  await rollUp();
  const rows = await readDays();
  assert.equal(rows.length, 62);
  const usable = licenses.filter((facts) =>
    isUsable(
      licenseStatus({ id: '', productId: '', trial: false, updatesUntil: null, ...facts }, NOW),
    ),
  );
  assert.deepEqual(rows.slice(-6), [
    { day: '2027-03-05', usable: 9, created: 7 },
    { day: '2027-03-06', usable: 8, created: 0 },
    { day: '2027-03-07', usable: 7, created: 0 },
    { day: '2027-03-08', usable: 7, created: 1 },
    { day: '2027-03-09', usable: 5, created: 0 },
    { day: '2027-03-10', usable: usable.length, created: 1 },
  ]);
});

test('keeps the numbers of earlier days, and counts every day since the last roll-up', async () => {
  await store({}, new Date('2027-03-09T00:00:00Z'));
  await rollUp();
  await pool.query('delete from licenses');
  clock.advance(2 * DAY_MS);
  await rollUp();
  assert.deepEqual((await readDays()).slice(-4), [
    { day: '2027-03-09', usable: 1, created: 1 },
    { day: '2027-03-10', usable: 0, created: 0 },
    { day: '2027-03-11', usable: 0, created: 0 },
    { day: '2027-03-12', usable: 0, created: 0 },
  ]);
});

test('reads the licenses every quarter of an hour', async () => {
  await rollUp();
  await store({}, NOW);
  clock.advance(15 * 60_000 - 1);
  await rollUp();
  const today = dayOf(NOW);
  assert.deepEqual((await readDays()).at(-1), { day: today, usable: 0, created: 0 });
  clock.advance(1);
  await rollUp();
  assert.deepEqual((await readDays()).at(-1), { day: today, usable: 1, created: 1 });
});
