import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readAtMost } from './read-at-most.ts';

/** Streams parts of four bytes, and notes how many were read and whether the reader left early. */
function stream(parts: number) {
  const seen = { read: 0, canceled: false };
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        if (seen.read === parts) return controller.close();
        seen.read += 1;
        return controller.enqueue(new Uint8Array(4).fill(seen.read));
      },
      cancel() {
        seen.canceled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { seen, source };
}

test('returns a stream of exactly the limit', async () => {
  const { seen, source } = stream(3);
  const content = await readAtMost(source, 12);
  assert.deepEqual([...((await content?.bytes()) ?? [])], [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
  assert.deepEqual(seen, { read: 3, canceled: false });
});

test('cancels a longer stream at the first part beyond the limit', async () => {
  const { seen, source } = stream(9);
  assert.equal(await readAtMost(source, 11), null);
  assert.deepEqual(seen, { read: 3, canceled: true });
});

test('ignores that a longer stream cannot be canceled', async () => {
  const broken = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.enqueue(new Uint8Array(4)),
    cancel: () => Promise.reject(new TypeError('network error')),
  });
  assert.equal(await readAtMost(broken, 3), null);
  // An unhandled rejection would fail the test by then.
  await new Promise(setImmediate);
});

test('returns an empty file for an answer without a body', async () => {
  assert.equal((await readAtMost(null, 1))?.size, 0);
});

test('rejects where the stream breaks', async () => {
  const broken = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: () => Promise.reject(new TypeError('network error')),
  });
  await assert.rejects(readAtMost(broken, 1), new TypeError('network error'));
});
