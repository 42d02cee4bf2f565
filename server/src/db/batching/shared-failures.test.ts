import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';

import { DatabaseError } from 'pg';

import { isConnectionFailure, isDatabaseTimeout } from '#server/db/database-errors.ts';
import { createPool } from '#server/db/pool.ts';

import { Batcher } from './batcher.ts';

const silence = new Error('Query read timeout');
const refusal = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** For each promise 'done', or its error. */
async function outcomesOf(calls: readonly Promise<unknown>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(calls);
  return results.map((result) => (result.status === 'fulfilled' ? 'done' : result.reason));
}

/** A batcher of single calls whose first batch fails with this error. */
function batcherFailingWith(
  error: Error,
  isUnresponsive?: () => Promise<boolean>,
): Batcher<number, number> {
  let batches = 0;
  return new Batcher({
    name: 'test',
    ...(isUnresponsive && { isUnresponsive }),
    maxBatchSize: 1,
    maxQueueLength: 10,
    observer: { observeBatch: () => {}, setQueueDepth: () => {} },
    execute: async (inputs) => {
      if (batches++ === 0) throw error;
      return inputs;
    },
  });
}

test('fails the waiting calls with a batch to which the database did not respond', async () => {
  const batcher = batcherFailingWith(silence);
  assert.deepEqual(await outcomesOf([1, 2, 3].map((input) => batcher.submit(input))), [
    silence,
    silence,
    silence,
  ]);
  assert.equal(await batcher.submit(4), 4);
});

test('starts no empty second batch after the queue failed', async () => {
  const batches: number[][] = [];
  const batcher = new Batcher<number, number>({
    name: 'test',
    maxBatchSize: 2,
    overlapFrom: 2,
    maxQueueLength: 10,
    observer: { observeBatch: () => {}, setQueueDepth: () => {} },
    execute: async (inputs) => {
      batches.push([...inputs]);
      if (inputs.includes(1)) throw silence;
      return inputs;
    },
  });
  await outcomesOf([1, 2, 3, 4, 5, 6, 7].map((input) => batcher.submit(input)));
  batches.length = 0;
  const calls = [11, 12].map((input) => batcher.submit(input));
  assert.deepEqual(await outcomesOf(calls), ['done', 'done']);
  assert.deepEqual(batches, [[11, 12]]);
});

test('fails only the batch whose connection broke', async () => {
  const batcher = batcherFailingWith(refusal);
  const outcomes = await outcomesOf([1, 2, 3].map((input) => batcher.submit(input)));
  assert.deepEqual(outcomes, [refusal, 'done', 'done']);
});

test('fails only a slow statement while the database responds otherwise', async () => {
  const batcher = batcherFailingWith(silence, async () => false);
  const outcomes = await outcomesOf([1, 2, 3].map((input) => batcher.submit(input)));
  assert.deepEqual(outcomes, [silence, 'done', 'done']);
});

test('fails only calls that need a locked row, and does not delay the next batch', async () => {
  const held = Object.assign(new DatabaseError('held', 0, 'error'), { code: '55P03' });
  const release = Promise.withResolvers<void>();
  const batches: number[][] = [];
  const batcher = new Batcher<number, number>({
    name: 'test',
    maxBatchSize: 4,
    maxQueueLength: 10,
    observer: { observeBatch: () => {}, setQueueDepth: () => {} },
    rowOf: (input) => String(input % 10),
    execute: async (inputs) => {
      batches.push([...inputs]);
      if (!inputs.some((input) => input % 10 === 1)) return inputs;
      if (batches.length > 1) await release.promise;
      throw held;
    },
  });
  const calls = [1, 2, 11, 3, 4].map((input) => batcher.submit(input));
  assert.deepEqual(await outcomesOf([1, 3, 4].flatMap((index) => calls[index] ?? [])), [
    'done',
    'done',
    'done',
  ]);
  release.resolve();
  assert.deepEqual(await outcomesOf(calls), [held, 'done', held, 'done', 'done']);
  assert.deepEqual(batches, [[1, 2, 11, 3], [4], [1, 11], [2], [3]]);
});

test('fails the batch and the queue with a shared failure, without retries', async () => {
  const held = Object.assign(new DatabaseError('held', 0, 'error'), { code: '55P03' });
  const batches: number[][] = [];
  const batcher = new Batcher<number, number>({
    name: 'test',
    maxBatchSize: 2,
    maxQueueLength: 10,
    observer: { observeBatch: () => {}, setQueueDepth: () => {} },
    isSharedFailure: (error) => error === held,
    execute: async (inputs) => {
      batches.push([...inputs]);
      if (batches.length > 1) return inputs;
      throw held;
    },
  });
  const calls = [1, 2, 3, 4, 5].map((input) => batcher.submit(input));
  assert.deepEqual(await outcomesOf(calls), [held, held, held, held, held]);
  assert.deepEqual(await outcomesOf([batcher.submit(6)]), ['done']);
  assert.deepEqual(batches, [[1, 2], [6]]);
});

test('distinguishes a server that accepts connections without responding from one that is down', async (t) => {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const host = { host: '127.0.0.1', user: 'x', database: 'x' };
  const ask = async (port: number): Promise<unknown> => {
    const pool = createPool({ ...host, port }, { maxConnections: 1, log: { warn: () => {} } });
    pool.options.connectionTimeoutMillis = 100;
    return pool.query('select 1').then(
      () => 'answered',
      (error: unknown) => error,
    );
  };
  const unanswered = await ask(address.port);
  assert.deepEqual([isConnectionFailure(unanswered), isDatabaseTimeout(unanswered)], [true, true]);
  const refused = await ask(1);
  assert.deepEqual([isConnectionFailure(refused), isDatabaseTimeout(refused)], [true, false]);
});
