import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { Pool, PoolClient } from 'pg';

import { openTestPool } from '../../../test/database-pool.ts';
import { eventually } from '../../../test/eventually.ts';
import { copyIn } from './copy-in.ts';
import { copyOut } from './copy-out.ts';

const pool = await openTestPool({ maxConnections: 2 });
await pool.query('create table numbers (n integer primary key, filling text)');

async function onClient<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let isUsable = true;
  try {
    return await work(client);
  } catch (error) {
    // The error may come before the driver notices the end of the connection.
    isUsable = false;
    throw error;
  } finally {
    client.release(!isUsable);
  }
}

async function* block(...blocks: readonly string[]): AsyncGenerator<Buffer> {
  for (const each of blocks) yield Buffer.from(each);
}

const COPY_IN = 'copy numbers (n) from stdin';

const count = async (from: Pool | PoolClient): Promise<number> =>
  (await from.query('select from numbers')).rowCount ?? 0;

describe('copyIn', () => {
  test('stores rows that begin and end anywhere in the blocks', async () => {
    await onClient(async (client) => {
      assert.equal(await copyIn(client, COPY_IN, block('1\n2', '3\n', '', '4')), 3);
      assert.equal(await copyIn(client, COPY_IN, block()), 0);
      assert.equal(await count(client), 3);
    });
  });

  test('leaves the connection usable after an error of the server and one of the source', async () => {
    await onClient(async (client) => {
      const many = Array.from({ length: 200 }, () => '5\n'.repeat(50_000));
      await assert.rejects(copyIn(client, COPY_IN, block(...many)), /duplicate key/u);
      assert.equal(await count(client), 3);
      const cause = new Error('the file is gone');
      const breaking = async function* (): AsyncGenerator<Buffer> {
        yield Buffer.from('6\n');
        throw cause;
      };
      await assert.rejects(copyIn(client, COPY_IN, breaking()), cause);
      await assert.rejects(copyIn(client, 'copy nowhere from stdin', block()), /does not exist/u);
      assert.equal(await count(client), 3);
    });
  });

  test('fails when the connection ends', async () => {
    await assert.rejects(
      onClient(async (client) => {
        // The driver reports the end of a connection here, too.
        client.on('error', () => undefined);
        const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
        const killing = async function* (): AsyncGenerator<Buffer> {
          yield Buffer.from('7\n');
          await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
          for (;;) yield Buffer.from('8\n'.repeat(10_000));
        };
        await copyIn(client, COPY_IN, killing());
      }),
    );
    assert.equal(await count(pool), 3);
  });
});

describe('copyOut', () => {
  const statement = `copy (select n, repeat('x', 100) from generate_series(1, 50000) n) to stdout`;

  test('passes on whole rows in order, one block after the other', async () => {
    const blocks: Buffer[] = [];
    let isTaking = false;
    const take = async (each: Buffer): Promise<void> => {
      assert.equal(isTaking, false);
      isTaking = true;
      await new Promise((resolve) => setImmediate(resolve));
      blocks.push(Buffer.from(each));
      isTaking = false;
    };
    const reported: number[] = [];
    const rows = await onClient((client) =>
      copyOut(client, statement, take, (done) => reported.push(done)),
    );
    assert.equal(rows, 50_000);
    assert.equal(reported.at(-1), 50_000);
    assert.ok(blocks.length > 10);
    const lines = Buffer.concat(blocks).toString().trimEnd().split('\n');
    const filling = 'x'.repeat(100);
    assert.deepEqual(
      lines,
      Array.from({ length: 50_000 }, (_, index) => `${index + 1}\t${filling}`),
    );
  });

  test('reads on only when the last block was taken', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let taken = 0;
    const all = onClient((client) =>
      copyOut(client, statement, () => {
        taken += 1;
        return taken === 1 ? promise : Promise.resolve();
      }),
    );
    const isWaiting = `select from pg_stat_activity where wait_event = 'ClientWrite' and query like 'copy (select n%'`;
    await eventually(async () => taken > 0 && (await pool.query(isWaiting)).rowCount === 1);
    assert.equal(taken, 1);
    resolve();
    assert.equal(await all, 50_000);
  });

  test('ends with the error of what takes the rows, without reading the others', async () => {
    const endless = 'copy (select generate_series(1, 1000000000)) to stdout';
    const cause = new Error('the disk is full');
    const client = await pool.connect();
    await assert.rejects(
      copyOut(client, endless, () => Promise.reject(cause)),
      cause,
    );
    client.release(true);
    await assert.rejects(
      onClient((other) => copyOut(other, 'copy nowhere to stdout', async () => {})),
      /does not exist/u,
    );
  });
});
