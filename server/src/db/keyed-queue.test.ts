import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { PublicError } from '#server/errors.ts';

import { KeyedQueue } from './keyed-queue.ts';

const turn = () => new Promise(setImmediate);

/** A piece of work that ends when the test says so. */
function makeGate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { work: () => promise, open: resolve };
}

describe('KeyedQueue', () => {
  test('work of one key runs in the order of its arrival, never two pieces together', async () => {
    const queue = new KeyedQueue({ maxConcurrent: 10, maxWaiting: 100, maxPerKey: 100 });
    const order: number[] = [];
    let running = 0;
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        queue.run('key', async () => {
          assert.equal(++running, 1);
          await turn();
          order.push(index);
          running--;
        }),
      ),
    );
    assert.deepEqual(
      order,
      Array.from({ length: 20 }, (_, index) => index),
    );
  });

  test('another key does not wait', async () => {
    const queue = new KeyedQueue({ maxConcurrent: 2, maxWaiting: 10, maxPerKey: 100 });
    const slow = makeGate();
    const blocked = queue.run('slow', slow.work);
    assert.equal(await queue.run('quick', async () => 'done'), 'done');
    slow.open();
    await blocked;
  });

  test('a failure is its caller’s own; the next in line runs', async () => {
    const queue = new KeyedQueue({ maxConcurrent: 1, maxWaiting: 10, maxPerKey: 100 });
    const failing = queue.run('key', async () => {
      throw new Error('mine');
    });
    const next = queue.run('key', async () => 'runs');
    await assert.rejects(failing, /mine/);
    assert.equal(await next, 'runs');
  });

  test('too many waiting: the next one is refused at once, and taken once there is room', async () => {
    const queue = new KeyedQueue({ maxConcurrent: 1, maxWaiting: 3, maxPerKey: 100 });
    const gate = makeGate();
    const running = queue.run('key', gate.work);
    await turn();
    const waiting = [1, 2, 3].map((value) => queue.run('key', async () => value));
    assert.equal(queue.depth, 3);
    for (const key of ['key', 'another']) {
      await assert.rejects(
        queue.run(key, async () => assert.fail('it must not run')),
        (error) => {
          assert.ok(error instanceof PublicError);
          assert.deepEqual([error.code, error.headers], ['overloaded', { 'retry-after': '1' }]);
          return true;
        },
      );
    }
    gate.open();
    await running;
    assert.deepEqual(await Promise.all(waiting), [1, 2, 3]);
    assert.equal(queue.depth, 0);
    assert.equal(await queue.run('key', async () => 4), 4);
  });

  test('one key takes no more than its places; the others are served', async () => {
    const queue = new KeyedQueue({ maxConcurrent: 2, maxWaiting: 10, maxPerKey: 2 });
    const gate = makeGate();
    const greedy = [queue.run('greedy', gate.work), queue.run('greedy', gate.work)];
    for (let call = 0; call < 10; call++) {
      await assert.rejects(queue.run('greedy', gate.work), { code: 'overloaded' });
    }
    assert.equal(await queue.run('modest', async () => 'served'), 'served');
    gate.open();
    await Promise.all(greedy);
    assert.equal(await queue.run('greedy', async () => 'again'), 'again');
  });

  test('what concerns a key fails those that wait for it, and nobody else', async () => {
    const held = new Error('held');
    const concernsKey = (error: unknown): boolean => error === held;
    const queue = new KeyedQueue({ maxConcurrent: 1, maxWaiting: 10, maxPerKey: 10, concernsKey });
    const failing = async (): Promise<never> => {
      throw held;
    };
    const calls = [
      queue.run('held', failing),
      queue.run('held', async () => assert.fail('it must not run')),
      queue.run('other', async () => 'done'),
    ];
    const results = await Promise.allSettled(calls);
    assert.deepEqual(results, [
      { status: 'rejected', reason: held },
      { status: 'rejected', reason: held },
      { status: 'fulfilled', value: 'done' },
    ]);
    assert.equal(await queue.run('held', async () => 'again'), 'again');
    assert.equal(queue.depth, 0);
  });

  test('whatever arrives: the bounds hold, the order of each key too, and all of it ends', async () => {
    const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 50 });
    const limit = fc.integer({ min: 1, max: 4 });
    const property = fc.asyncProperty(keys, limit, async (arrivals, maxConcurrent) => {
      const queue = new KeyedQueue({ maxConcurrent, maxWaiting: 100, maxPerKey: 100 });
      const ended = new Map<string, number[]>();
      const underWay = new Set<string>();
      await Promise.all(
        arrivals.map((key, index) =>
          queue.run(key, async () => {
            assert.ok(!underWay.has(key));
            underWay.add(key);
            assert.ok(underWay.size <= maxConcurrent);
            for (let turns = index % 3; turns > 0; turns--) await turn();
            underWay.delete(key);
            ended.set(key, [...(ended.get(key) ?? []), index]);
          }),
        ),
      );
      assert.equal(queue.depth, 0);
      for (const [key, order] of ended) {
        const expected = arrivals.flatMap((each, index) => (each === key ? [index] : []));
        assert.deepEqual(order, expected);
      }
    });
    await fc.assert(property, { numRuns: 100 });
  });
});
