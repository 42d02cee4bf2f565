import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { openTestPool } from '../../test/database-pool.ts';
import { isLockTimeout, isTransientConflict, isUniqueViolation } from './database-errors.ts';
import type { Queryable } from './statement.ts';
import { inTransaction, inTransactionOnce } from './transaction.ts';

const pool = await openTestPool();
await pool.query('create table notes (id integer primary key, text text)');

async function listNotes(): Promise<unknown[]> {
  const { rows } = await pool.query<{ text: string }>('select text from notes order by id');
  return rows.map(({ text }) => text);
}

async function showLimit(client: Queryable): Promise<string | undefined> {
  return (await client.query<{ lock_timeout: string }>('show lock_timeout')).rows[0]?.lock_timeout;
}

describe('inTransaction', () => {
  test('commits the work and returns its result', async () => {
    await pool.query('truncate notes');
    const result = await inTransaction(pool, async (client) => {
      await client.query(`insert into notes values (1, 'kept')`);
      assert.deepEqual(await listNotes(), [], 'invisible before the commit');
      return 'done';
    });
    assert.equal(result, 'done');
    assert.deepEqual(await listNotes(), ['kept']);
  });

  test('rolls back and rethrows an error, and keeps the connection', async () => {
    await pool.query('truncate notes');
    const mine = new Error('mine');
    const failing = inTransaction(pool, async (client) => {
      await client.query(`insert into notes values (1, 'lost')`);
      throw mine;
    });
    await assert.rejects(failing, (error) => error === mine);
    assert.deepEqual(await listNotes(), []);
    const twice = inTransaction(pool, (client) =>
      client.query(`insert into notes values (1, 'a'), (1, 'b')`),
    );
    await assert.rejects(twice, isUniqueViolation);
    assert.deepEqual([pool.totalCount, pool.waitingCount], [pool.idleCount, 0]);
  });

  test('retries work that was the victim of a deadlock', async () => {
    await pool.query('truncate notes');
    await pool.query(`insert into notes values (1, ''), (2, '')`);
    let tries = 0;
    const bothHoldOne = Promise.withResolvers<void>();
    let holding = 0;
    const append = (letter: string, order: readonly number[]) =>
      inTransaction(pool, async (client) => {
        tries++;
        await client.query(`set local deadlock_timeout = '20ms'`);
        for (const id of order) {
          await client.query('update notes set text = text || $2 where id = $1', [id, letter]);
          if (++holding === 2) bothHoldOne.resolve();
          await bothHoldOne.promise;
        }
      });
    await Promise.all([append('a', [1, 2]), append('b', [2, 1])]);
    // The loser may meet the winner's second try once more.
    assert.ok(tries >= 3, `${tries} tries`);
    const texts = await listNotes();
    assert.equal(texts[0], texts[1]);
    assert.ok(texts[0] === 'ab' || texts[0] === 'ba');
  });

  for (const [run, expected] of [
    [inTransaction, 5],
    [inTransactionOnce, 1],
  ] as const) {
    test(`throws a conflict after ${expected} tries: ${run.name}`, async () => {
      let tries = 0;
      const failing = run(pool, async (client) => {
        tries++;
        await client.query(`do $$ begin raise sqlstate '40001'; end $$`);
      });
      await assert.rejects(failing, isTransientConflict);
      assert.equal(tries, expected);
    });
  }

  test('discards a connection that breaks, and opens another', async () => {
    const failing = inTransaction(pool, (client) =>
      client.query('select pg_terminate_backend(pg_backend_pid())'),
    );
    await assert.rejects(failing);
    assert.equal(await inTransaction(pool, async () => 'works'), 'works');
    assert.equal(pool.totalCount, pool.idleCount);
  });

  test('waits for a lock as long as configured, and keeps the connection', async () => {
    await pool.query('truncate notes');
    await pool.query(`insert into notes values (1, '')`);
    const touch = `update notes set text = text || 'x' where id = 1`;
    await inTransaction(pool, async (holder) => {
      await holder.query(touch);
      const startedAt = performance.now();
      const waiting = inTransaction(pool, (client) => client.query(touch), { lockTimeoutMs: 100 });
      await assert.rejects(waiting, isLockTimeout);
      const waitedMs = performance.now() - startedAt;
      assert.ok(waitedMs >= 90 && waitedMs < 10_000, `${waitedMs} ms`);
    });
    assert.deepEqual(await listNotes(), ['x']);
    assert.equal(pool.totalCount, pool.idleCount);
  });

  test('waits for a lock for three seconds by default', async () => {
    assert.equal(await inTransaction(pool, showLimit), '3s');
    assert.equal(await inTransaction(pool, showLimit, { lockTimeoutMs: 0 }), '0');
  });
});
