import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';

import { createPool } from '#server/db/pool.ts';

import { createTestDatabase } from '../../../../test/database.ts';

import {
  deleteSuppression,
  findSuppression,
  insertSuppression,
  liftUnsubscription,
  listSuppressed,
} from './suppressions.ts';

const database = await createTestDatabase();
const pool = createPool(database.connection, { maxConnections: 2, log: { warn: () => {} } });
after(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => pool.query('delete from suppressions'));

const hash = (digit: string) => digit.repeat(64);
const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 10, minute));
const suppress = (digit: string, reason: 'unsubscribed' | 'erased' | 'by_hand', minute: number) =>
  insertSuppression(pool, { addressHash: hash(digit), reason, suppressedAt: at(minute) });

test('lists the suppressed ones of several addresses', async () => {
  await suppress('a', 'unsubscribed', 0);
  await suppress('b', 'by_hand', 0);
  const asked = ['a', 'b', 'c', 'a'].map(hash);
  assert.deepEqual(await listSuppressed(pool, asked), new Set([hash('a'), hash('b')]));
  assert.deepEqual(await listSuppressed(pool, []), new Set());
});

test('an unsubscription keeps a stronger reason and updates the time', async () => {
  await suppress('a', 'unsubscribed', 1);
  await suppress('a', 'erased', 2);
  await suppress('a', 'unsubscribed', 4);
  await suppress('a', 'unsubscribed', 3);
  assert.deepEqual(await findSuppression(pool, hash('a')), {
    addressHash: hash('a'),
    reason: 'erased',
    suppressedAt: at(4),
  });
});

test('an erasure replaces every reason and is never replaced', async () => {
  await suppress('a', 'erased', 1);
  await suppress('a', 'by_hand', 2);
  await suppress('b', 'by_hand', 1);
  await suppress('b', 'erased', 2);
  for (const digit of ['a', 'b']) {
    const { reason, suppressedAt } = (await findSuppression(pool, hash(digit))) ?? {};
    assert.deepEqual([reason, suppressedAt], ['erased', at(2)]);
  }
});

test('lifts only an unsubscription from before the request', async () => {
  await suppress('a', 'unsubscribed', 1);
  await suppress('b', 'unsubscribed', 2);
  await suppress('c', 'by_hand', 1);
  for (const digit of ['a', 'b', 'c']) await liftUnsubscription(pool, hash(digit), at(2));
  const left = await listSuppressed(pool, ['a', 'b', 'c'].map(hash));
  assert.deepEqual([...left].toSorted(), [hash('b'), hash('c')]);
});

test('deletes a suppression once', async () => {
  await suppress('a', 'by_hand', 1);
  assert.equal(await deleteSuppression(pool, hash('a')), true);
  assert.equal(await deleteSuppression(pool, hash('a')), false);
  assert.equal(await findSuppression(pool, hash('a')), null);
});
