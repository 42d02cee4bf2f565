import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { createPool } from '#server/db/pool.ts';
import { makeEventDays } from '#server/features/analytics/create-event-partitions.ts';
import { createLog } from '#server/log.ts';

import { createTestDatabase } from '../../../test/database.ts';
import { DAY_MS, TEST_START } from '../../../test/test-clock.ts';
import { checkEventDays } from './check-analytics.ts';

test('days of events that are missing, or that the role may not make, are told of', async (t) => {
  const database = await createTestDatabase();
  const log = createLog({ level: 'silent' });
  const pool = createPool(database.connection, { maxConnections: 2, log });
  const role = `guest_${randomUUID().replaceAll('-', '')}`;
  const guest = createPool(
    {
      url: `${database.url}${database.url.includes('?') ? '&' : '?'}options=${encodeURIComponent(`-c role=${role}`)}`,
    },
    { maxConnections: 1, log },
  );
  t.after(async () => {
    await guest.end();
    await pool.query(`drop role if exists ${role}`);
    await pool.end();
    await database.drop();
  });
  const check = async (days: number) => {
    const { status, symptom } = await checkEventDays(
      pool,
      new Date(TEST_START.getTime() + days * DAY_MS),
    );
    return [status, symptom];
  };
  assert.deepEqual(await check(0), ['ok', 'The service makes them when it runs.']);
  await makeEventDays(pool, TEST_START);
  assert.deepEqual(await check(6), ['ok', 'Ready up to 2027-03-08.']);
  assert.deepEqual(await check(7), ['warning', 'There is no place for events of 2027-03-09.']);
  await pool.query(`create role ${role}`);
  const { status, cause } = await checkEventDays(guest, TEST_START);
  assert.equal(status, 'warning');
  assert.match(cause ?? '', /may not make tables/);
  await assert.rejects(makeEventDays(guest, new Date(TEST_START.getTime() + DAY_MS)), {
    code: '42501',
  });
});
