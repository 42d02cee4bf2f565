import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { createPool } from '#server/db/pool.ts';
import { createEventPartitions } from '#server/features/analytics/create-event-partitions.ts';
import { createLog } from '#server/log.ts';

import { createTestDatabase } from '../../../test/database.ts';
import { DAY_MS, TEST_START } from '../../../test/test-clock.ts';
import { checkEventDays } from './check-analytics.ts';

test('reports missing event partitions, and a role that may not create them', async (t) => {
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
    const { status, code, facts } = await checkEventDays(
      pool,
      new Date(TEST_START.getTime() + days * DAY_MS),
    );
    return [status, code, facts?.['days']];
  };
  assert.deepEqual(await check(0), ['ok', undefined, undefined]);
  await createEventPartitions(pool, TEST_START);
  assert.deepEqual(await check(6), ['ok', undefined, undefined]);
  assert.deepEqual(await check(7), ['warning', 'event_partitions.missing', ['2027-03-09']]);
  await pool.query(`create role ${role}`);
  const { status, code } = await checkEventDays(guest, TEST_START);
  assert.deepEqual([status, code], ['warning', 'event_partitions.not_permitted']);
  await assert.rejects(createEventPartitions(guest, new Date(TEST_START.getTime() + DAY_MS)), {
    code: '42501',
  });
});
