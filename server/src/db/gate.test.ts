import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PublicError } from '#server/errors.ts';

import { Gate } from './gate.ts';

/** Work that ends when it is told to, and notes when it begins. */
function makeWork(begun: number[], id: number) {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const work = () => {
    begun.push(id);
    return promise;
  };
  return { work, end: () => resolve(id), fail: reject };
}

function makeWorks(begun: number[], count: number) {
  return Array.from({ length: count }, (_, id) => makeWork(begun, id));
}

const turn = () => new Promise(setImmediate);

test('no more than the limit is under way, and the others follow in the order of asking', async () => {
  const begun: number[] = [];
  const gate = new Gate({ maxConcurrent: 2, maxWaiting: 10 });
  const works = makeWorks(begun, 5);
  const results = works.map(({ work }) => gate.run(work));
  await turn();
  assert.deepEqual([begun, gate.depth], [[0, 1], 3]);
  works[1]?.end();
  await turn();
  assert.deepEqual([begun, gate.depth], [[0, 1, 2], 2]);
  for (const { end } of works) end();
  assert.deepEqual(await Promise.all(results), [0, 1, 2, 3, 4]);
  assert.deepEqual([begun, gate.depth], [[0, 1, 2, 3, 4], 0]);
});

test('whoever finds the line full is refused at once, and told when to come back', async () => {
  const gate = new Gate({ maxConcurrent: 1, maxWaiting: 1 });
  const works = makeWorks([], 3);
  const [first, second, third] = works.map(({ work }) => gate.run(work));
  await assert.rejects(third ?? Promise.resolve(), (error) => {
    assert.ok(error instanceof PublicError);
    assert.deepEqual([error.code, error.headers], ['overloaded', { 'retry-after': '1' }]);
    return true;
  });
  for (const { end } of works) end();
  assert.deepEqual(await Promise.all([first, second]), [0, 1]);
});

test('an error is its own caller’s, and its place is free again', async () => {
  const gate = new Gate({ maxConcurrent: 1, maxWaiting: 5 });
  const failing = gate.run(() => Promise.reject(new Error('a bad input')));
  const next = gate.run(() => Promise.resolve('served'));
  await assert.rejects(failing, /a bad input/);
  assert.equal(await next, 'served');
  assert.equal(await gate.run(() => Promise.resolve('later')), 'later');
});

test('those that wait behind a silent database fail with it; whoever comes later is served', async () => {
  const begun: number[] = [];
  const gate = new Gate({ maxConcurrent: 1, maxWaiting: 5 });
  const [silent, ...waiting] = makeWorks(begun, 3);
  const results = [silent, ...waiting].flatMap((item) => (item ? [gate.run(item.work)] : []));
  silent?.fail(new Error('Query read timeout'));
  for (const result of await Promise.allSettled(results)) assert.equal(result.status, 'rejected');
  assert.deepEqual(begun, [0]);
  assert.equal(await gate.run(() => Promise.resolve('later')), 'later');
});
