import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { draining, PublicError } from '#server/errors.ts';

import { ConcurrencyLimiter, createSerialLimiter } from './concurrency-limiter.ts';

const turn = () => new Promise(setImmediate);

/** Work that lasts until the test settles it, and records when it starts. */
function holdWork(started: string[], id: string) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const work = () => {
    started.push(id);
    return promise;
  };
  return { work, finish: () => resolve(id), fail: reject };
}

const never = async (): Promise<never> => assert.fail('it must not run');

function rejectedWithRetryAfter(seconds: string) {
  return (error: unknown) => {
    assert.ok(error instanceof PublicError);
    assert.deepEqual([error.code, error.headers], ['overloaded', { 'retry-after': seconds }]);
    return true;
  };
}

describe('ConcurrencyLimiter', () => {
  test('runs as many calls as the limit, and the others in the order of their arrival', async () => {
    const started: string[] = [];
    const limiter = new ConcurrencyLimiter({ limit: 2, maxQueued: 10 });
    const works = ['a', 'b', 'c', 'd', 'e'].map((id) => holdWork(started, id));
    const results = works.map(({ work }) => limiter.run(work));
    await turn();
    assert.deepEqual([started, limiter.running, limiter.queued], [['a', 'b'], 2, 3]);
    works[1]?.finish();
    await turn();
    assert.deepEqual([started, limiter.running, limiter.queued], [['a', 'b', 'c'], 2, 2]);
    for (const { finish } of works) finish();
    assert.deepEqual(await Promise.all(results), ['a', 'b', 'c', 'd', 'e']);
    assert.deepEqual([limiter.running, limiter.queued], [0, 0]);
  });

  test('rejects a call at once when the queue is full, and accepts one when there is room', async () => {
    const limiter = new ConcurrencyLimiter({ limit: 1, maxQueued: 1, retryAfterSeconds: 7 });
    const { work, finish } = holdWork([], 'first');
    const calls = [limiter.run(work), limiter.run(async () => 'second')];
    await assert.rejects(limiter.run(never), rejectedWithRetryAfter('7'));
    await assert.rejects(limiter.runForKey('key', never), rejectedWithRetryAfter('7'));
    finish();
    assert.deepEqual(await Promise.all(calls), ['first', 'second']);
    assert.equal(await limiter.run(async () => 'third'), 'third');
  });

  test('rejects a call that waits for longer than the timeout, and only that one', async () => {
    const limiter = new ConcurrencyLimiter({ limit: 1, maxQueued: 2, queueTimeoutMs: 20 });
    const { work, finish } = holdWork([], 'first');
    const first = limiter.run(work);
    await assert.rejects(limiter.run(never), rejectedWithRetryAfter('1'));
    assert.equal(limiter.queued, 0);
    const next = limiter.run(async () => 'next');
    finish();
    assert.deepEqual(await Promise.all([first, next]), ['first', 'next']);
  });

  test('frees the slot of a call that fails, whose error is its own', async () => {
    const limiter = new ConcurrencyLimiter({ limit: 1, maxQueued: 5 });
    const failing = limiter.runForKey('key', () => Promise.reject(new Error('invalid input')));
    const sameKey = limiter.runForKey('key', async () => 'same key');
    const next = limiter.run(async () => 'next');
    await assert.rejects(failing, /invalid input/);
    assert.deepEqual(await Promise.all([sameKey, next]), ['same key', 'next']);
  });

  test('rejects waiting and later calls once it is closed; running ones continue', async () => {
    const limiter = new ConcurrencyLimiter({ limit: 1, maxQueued: 5 });
    const { work, finish } = holdWork([], 'running');
    const running = limiter.run(work);
    const waiting = limiter.run(never);
    limiter.close(draining);
    await assert.rejects(waiting, { code: 'draining' });
    await assert.rejects(limiter.run(never), { code: 'draining' });
    finish();
    assert.equal(await running, 'running');
  });

  test('rejects waiting calls of all keys with a shared failure; later calls run', async () => {
    const shared = new Error('no answer');
    const isSharedFailure = async (error: unknown) => error === shared;
    const limiter = new ConcurrencyLimiter({ limit: 1, maxQueued: 5, isSharedFailure });
    const calls = [
      limiter.runForKey('a', () => Promise.reject(shared)),
      limiter.runForKey('a', never),
      limiter.runForKey('b', never),
      limiter.run(never),
    ];
    for (const result of await Promise.allSettled(calls)) {
      assert.deepEqual(result, { status: 'rejected', reason: shared });
    }
    assert.equal(limiter.queued, 0);
    assert.equal(await limiter.runForKey('a', async () => 'later'), 'later');
  });

  test('rejects the waiting calls of one key with a failure of that key, and no others', async () => {
    const held = new Error('row is locked');
    const isKeyFailure = (error: unknown) => error === held;
    const limiter = new ConcurrencyLimiter({ limit: 1, maxQueued: 10, isKeyFailure });
    const calls = [
      limiter.runForKey('held', () => Promise.reject(held)),
      limiter.runForKey('held', never),
      limiter.runForKey('other', async () => 'done'),
    ];
    assert.deepEqual(await Promise.allSettled(calls), [
      { status: 'rejected', reason: held },
      { status: 'rejected', reason: held },
      { status: 'fulfilled', value: 'done' },
    ]);
    assert.equal(await limiter.runForKey('held', async () => 'again'), 'again');
    assert.equal(limiter.queued, 0);
  });

  test('limits the calls of one key; other keys run', async () => {
    const limiter = new ConcurrencyLimiter({ limit: 2, maxQueued: 10, maxPerKey: 2 });
    const { work, finish } = holdWork([], 'greedy');
    const greedy = [limiter.runForKey('greedy', work), limiter.runForKey('greedy', work)];
    for (let call = 0; call < 10; call++) {
      await assert.rejects(limiter.runForKey('greedy', work), { code: 'overloaded' });
    }
    assert.equal(await limiter.runForKey('modest', async () => 'served'), 'served');
    finish();
    await Promise.all(greedy);
    assert.equal(await limiter.runForKey('greedy', async () => 'again'), 'again');
  });

  test('schedules keys in rotation, so that one with many calls does not delay another', async () => {
    const limiter = new ConcurrencyLimiter({ limit: 1, maxQueued: 10 });
    const order: string[] = [];
    const arrivals = ['a', 'a', 'a', 'b', 'c', 'c'];
    await Promise.all(arrivals.map((key) => limiter.runForKey(key, async () => order.push(key))));
    assert.equal(order.join(''), 'aabcac');
  });

  test('keeps its limits and the order of each key for any arrivals and outcomes', async () => {
    const arrival = fc.record({
      key: fc.constantFrom('a', 'b', 'c', undefined),
      turns: fc.nat({ max: 3 }),
      fails: fc.boolean(),
    });
    const property = fc.asyncProperty(
      fc.array(arrival, { maxLength: 40 }),
      fc.integer({ min: 1, max: 4 }),
      fc.nat({ max: 20 }),
      async (arrivals, limit, maxQueued) => {
        const limiter = new ConcurrencyLimiter({ limit, maxQueued });
        const started = new Map<string | undefined, number[]>();
        const runningKeys = new Set<string>();
        let running = 0;
        const calls = arrivals.map(({ key, turns, fails }, index) => {
          const work = async () => {
            assert.ok(++running <= limit);
            assert.ok(key === undefined || !runningKeys.has(key));
            if (key !== undefined) runningKeys.add(key);
            started.set(key, [...(started.get(key) ?? []), index]);
            for (let left = turns; left > 0; left--) await turn();
            running--;
            if (key !== undefined) runningKeys.delete(key);
            if (fails) throw new Error('failed');
            return index;
          };
          return key === undefined ? limiter.run(work) : limiter.runForKey(key, work);
        });
        assert.ok(limiter.queued <= maxQueued);
        const results = await Promise.allSettled(calls);
        const ran = results.flatMap((result, index) => (isOverload(result) ? [] : [index]));
        for (const [key, order] of started) {
          const expected = ran.filter((index) => arrivals[index]?.key === key);
          assert.deepEqual(order, expected);
        }
        assert.equal([...started.values()].flat().length, ran.length);
        assert.ok(ran.length >= Math.min(arrivals.length, maxQueued));
        assert.deepEqual([limiter.running, limiter.queued], [0, 0]);
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });
});

function isOverload(result: PromiseSettledResult<unknown>): boolean {
  return result.status === 'rejected' && result.reason instanceof PublicError;
}

describe('createSerialLimiter', () => {
  test('runs one call at a time, and rejects one that waits for five seconds', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const limiter = createSerialLimiter(30);
    const started: string[] = [];
    const { work, finish } = holdWork(started, 'first');
    const first = limiter.run(work);
    const second = limiter.run(never);
    t.mock.timers.tick(4_999);
    assert.deepEqual([started, limiter.running, limiter.queued], [['first'], 1, 1]);
    t.mock.timers.tick(1);
    await assert.rejects(second, rejectedWithRetryAfter('30'));
    finish();
    assert.equal(await first, 'first');
  });
});
