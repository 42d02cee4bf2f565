import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FRESH_MS, ResourceCache } from './cache.ts';

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A cache whose loads the test answers. */
function createCache() {
  const asked: { path: string; resolve: (data: unknown) => void; reject: (e: unknown) => void }[] =
    [];
  let nowMs = 1;
  const cache = new ResourceCache({
    load: (path) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      asked.push({ path, resolve, reject });
      return promise;
    },
    nowMs: () => nowMs,
  });
  return {
    cache,
    asked,
    pass: (milliseconds: number) => {
      nowMs += milliseconds;
    },
    answer: async (index: number, data: unknown) => {
      asked[index]?.resolve(data);
      await settle();
    },
    fail: async (index: number, error: unknown) => {
      asked[index]?.reject(error);
      await settle();
    },
    paths: () => asked.map(({ path }) => path),
  };
}

test('loads a path once for all its users, and not again while it is fresh', async () => {
  const { cache, answer, paths } = createCache();
  cache.use('/a', false);
  cache.use('/a', false);
  assert.equal(cache.read('/a').value.isLoading, true);
  await answer(0, 'one');
  assert.deepEqual(cache.read('/a').value, { data: 'one', error: undefined, isLoading: false });
  cache.use('/a', false);
  assert.deepEqual(paths(), ['/a']);
});

test('reports when what was invalidated and is shown was read again', async () => {
  const { cache, answer, fail } = createCache();
  for (const path of ['/a/1', '/a/2', '/b']) cache.use(path, false);
  for (const index of [0, 1, 2]) await answer(index, 'old');
  let isRead = false;
  const read = async () => {
    await cache.invalidate('/a');
    isRead = true;
  };
  const reading = read();
  await answer(3, 'new');
  assert.equal(isRead, false);
  await fail(4, 'broken');
  await reading;
  assert.equal(cache.read('/a/1').value.data, 'new');
});

test('keeps the last answer during a reload and after a failed one', async () => {
  const { cache, answer, fail, pass } = createCache();
  cache.use('/a', false);
  await answer(0, 'one');
  pass(FRESH_MS);
  cache.refresh();
  assert.deepEqual(cache.read('/a').value, { data: 'one', error: undefined, isLoading: true });
  await fail(1, 'broken');
  assert.deepEqual(cache.read('/a').value, { data: 'one', error: 'broken', isLoading: false });
});

test('invalidation loads what is shown again, and the rest at its next use', async () => {
  const { cache, answer, paths } = createCache();
  cache.use('/licenses?a', false);
  const leave = cache.use('/licenses/1', false);
  cache.use('/mails', false);
  await answer(0, 0);
  await answer(1, 1);
  await answer(2, 2);
  leave();
  void cache.invalidate('/licenses');
  assert.deepEqual(paths().slice(3), ['/licenses?a']);
  cache.use('/licenses/1', false);
  assert.deepEqual(paths().slice(3), ['/licenses?a', '/licenses/1']);
});

test('ignores the answer to a request from before an invalidation', async () => {
  const { cache, answer } = createCache();
  cache.use('/a', false);
  void cache.invalidate('/a');
  await answer(1, 'new');
  await answer(0, 'old');
  assert.equal(cache.read('/a').value.data, 'new');
});

test('polls only paths that ask for it, and only old data', async () => {
  const { cache, answer, pass, paths } = createCache();
  cache.use('/polled', true);
  cache.use('/other', false);
  await answer(0, 0);
  await answer(1, 1);
  cache.poll();
  assert.equal(paths().length, 2);
  pass(FRESH_MS);
  cache.poll();
  assert.deepEqual(paths().slice(2), ['/polled']);
});

test('polls several paths in turn, one at a time, and does not wait for one without an answer', async () => {
  const { cache, answer, pass, paths } = createCache();
  cache.use('/a', true);
  await answer(0, 0);
  pass(1);
  cache.use('/b', true);
  await answer(1, 1);
  const poll = (): readonly string[] => {
    const before = paths().length;
    pass(FRESH_MS);
    cache.poll();
    return paths().slice(before);
  };
  assert.deepEqual(poll(), ['/a']);
  await answer(2, 2);
  assert.deepEqual(poll(), ['/b']);
  assert.deepEqual(poll(), ['/a']);
});

test('asks a failing service no more often than a working one', async () => {
  const { cache, fail, paths } = createCache();
  cache.use('/a', true);
  await fail(0, 'broken');
  cache.poll();
  cache.refresh();
  assert.equal(paths().length, 1);
});

test('forgets everything, also answers that are on their way', async () => {
  const { cache, answer } = createCache();
  cache.use('/a', false);
  cache.use('/b', false);
  await answer(0, 'secret');
  cache.clear();
  await answer(1, 'secret');
  assert.equal(cache.read('/a').value.data, undefined);
  assert.equal(cache.read('/b').value.data, undefined);
});

test('keeps a limited number of unused paths', async () => {
  const { cache, asked, paths } = createCache();
  for (let index = 0; index < 200; index += 1) {
    const leave = cache.use(`/${index}`, false);
    asked.at(-1)?.resolve(index);
    leave();
  }
  const before = paths().length;
  cache.use('/0', false);
  assert.equal(paths().length, before + 1);
});
