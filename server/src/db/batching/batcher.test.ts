import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { PublicError } from '#server/errors.ts';

import { Batcher, type BatcherOptions } from './batcher.ts';

/** A batcher with a fake statement; `release` ends the running batch. */
function setUp(options: Partial<BatcherOptions<number, number>> = {}) {
  const batches: number[][] = [];
  const observed: number[] = [];
  const gates: (() => void)[] = [];
  let running = 0;
  const depth = { read: () => -1 };
  const batcher = new Batcher<number, number>({
    name: 'test',
    maxBatchSize: 4,
    maxQueueLength: 8,
    execute: async (inputs) => {
      const most = options.overlapFrom === undefined ? 1 : 2;
      assert.ok(++running <= most, 'too many concurrent batches');
      batches.push([...inputs]);
      await new Promise<void>((resolve) => gates.push(resolve));
      running--;
      return inputs.map((input) => input * 10);
    },
    observer: {
      observeBatch: (_name, size) => void observed.push(size),
      setQueueDepth: (_name, read) => {
        depth.read = read;
      },
    },
    ...options,
  });
  const release = async () => {
    while (gates.length === 0) await new Promise(setImmediate);
    gates.shift()?.();
  };
  return { batcher, batches, observed, release, depth: () => depth.read() };
}

/** Waits until the event loop is idle. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

describe('Batcher', () => {
  test('puts calls that arrive while a batch runs into the next one', async () => {
    const { batcher, batches, release, observed } = setUp();
    const first = batcher.submit(1);
    await settle();
    const others = [2, 3, 4].map((input) => batcher.submit(input));
    await settle();
    assert.deepEqual(batches, [[1]]);
    await release();
    assert.equal(await first, 10);
    await release();
    assert.deepEqual(await Promise.all(others), [20, 30, 40]);
    assert.deepEqual(batches, [[1], [2, 3, 4]]);
    await settle();
    assert.deepEqual(observed, [1, 3]);
  });

  test('fills a batch by the size of its inputs, and sends a large one alone', async () => {
    const { batcher, batches, release, depth } = setUp({ sizeOf: (input) => input });
    const inputs = [1, 3, 1, 9, 2, 2, 1];
    const answers = inputs.map((input) => batcher.submit(input));
    for (let batch = 0; batch < 5; batch++) await release();
    assert.deepEqual(
      await Promise.all(answers),
      inputs.map((input) => input * 10),
    );
    assert.deepEqual(batches, [[1, 3], [1], [9], [2, 2], [1]]);
    assert.equal(depth(), 0);
  });

  test('sends calls that arrive together in batches of the maximum size', async () => {
    const { batcher, batches, release } = setUp();
    const answers = [1, 2, 3, 4, 5, 6].map((input) => batcher.submit(input));
    await release();
    await release();
    assert.deepEqual(await Promise.all(answers), [10, 20, 30, 40, 50, 60]);
    assert.deepEqual(batches, [
      [1, 2, 3, 4],
      [5, 6],
    ]);
  });

  test('starts a second batch beside the first once enough calls wait', async () => {
    const { batcher, batches, release } = setUp({ overlapFrom: 2, maxBatchSize: 2 });
    const answers: Promise<number>[] = [];
    for (let input = 1; input <= 7; input++) {
      answers.push(batcher.submit(input));
      await settle();
    }
    assert.deepEqual(batches, [[1], [2, 3]]);
    for (let batch = 0; batch < 4; batch++) await release();
    assert.deepEqual(await Promise.all(answers), [10, 20, 30, 40, 50, 60, 70]);
    assert.deepEqual(batches, [[1], [2, 3], [4, 5], [6, 7]]);
  });

  test('sends the next batch before it returns the results of the previous one', async () => {
    const order: string[] = [];
    const { batcher } = setUp({
      execute: async (inputs) => {
        order.push(`sent ${inputs.join()}`);
        await new Promise(setImmediate);
        return inputs;
      },
    });
    const submit = async (input: number): Promise<void> => {
      await batcher.submit(input);
      order.push(`answered ${input}`);
    };
    const first = submit(1);
    await new Promise(setImmediate);
    await Promise.all([first, submit(2)]);
    assert.deepEqual(order, ['sent 1', 'sent 2', 'answered 1', 'answered 2']);
  });

  test('rejects a call at once when the queue is full, and accepts one when the queue has space', async () => {
    const { batcher, release, depth } = setUp();
    const first = batcher.submit(0);
    await settle();
    const waiting = Array.from({ length: 8 }, (_, index) => batcher.submit(index + 1));
    assert.equal(depth(), 8);
    for (let call = 0; call < 1000; call++) {
      await assert.rejects(batcher.submit(call), (error) => {
        assert.ok(error instanceof PublicError);
        assert.deepEqual([error.status, error.code], [503, 'overloaded']);
        assert.deepEqual(error.headers, { 'retry-after': '1' });
        return true;
      });
    }
    assert.equal(depth(), 8);
    await release();
    await first;
    await settle();
    assert.equal(depth(), 4);
    const late = batcher.submit(9);
    for (let batch = 0; batch < 3; batch++) await release();
    assert.deepEqual(await Promise.all(waiting), [10, 20, 30, 40, 50, 60, 70, 80]);
    assert.equal(await late, 90);
    assert.equal(depth(), 0);
  });

  test('rejects only the call that caused an error', async () => {
    const poison = new Error('poison');
    const { batcher } = setUp({
      maxBatchSize: 100,
      maxQueueLength: 100,
      execute: async (inputs) => {
        if (inputs.includes(42)) throw poison;
        return inputs;
      },
    });
    const answers = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => batcher.submit(index)),
    );
    answers.forEach((answer, index) => {
      if (index === 42) assert.deepEqual(answer, { status: 'rejected', reason: poison });
      else assert.deepEqual(answer, { status: 'fulfilled', value: index });
    });
  });

  test('rejects a call without a result, and continues', async () => {
    const { batcher } = setUp({ execute: async (inputs) => inputs.slice(0, 1) });
    const answers = await Promise.allSettled([batcher.submit(1), batcher.submit(2)]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    );
    assert.equal(await batcher.submit(3), 3);
  });

  test('returns its own output to each call, at any time of arrival', async () => {
    const arrivals = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 40 });
    const property = fc.asyncProperty(arrivals, async (pauses) => {
      const { batcher, observed } = setUp({
        maxQueueLength: 100,
        execute: async (inputs) => {
          await new Promise(setImmediate);
          return inputs.map((input) => input * 10);
        },
      });
      const answers: Promise<number>[] = [];
      for (const [index, pause] of pauses.entries()) {
        answers.push(batcher.submit(index));
        for (let turn = 0; turn < pause; turn++) await new Promise(setImmediate);
      }
      assert.deepEqual(
        await Promise.all(answers),
        pauses.map((_, index) => index * 10),
      );
      await settle();
      assert.equal(
        observed.reduce((sum, size) => sum + size, 0),
        pauses.length,
      );
      assert.ok(observed.every((size) => size >= 1 && size <= 4));
    });
    await fc.assert(property, { numRuns: 100 });
  });
});
