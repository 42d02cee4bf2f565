import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fillWhilePending } from './fill-while-pending.ts';

async function* wrap(pending: Promise<string>): AsyncGenerator<string> {
  yield yield* fillWhilePending(pending, ' ', 5);
}

test('yields the filler until the promise settles, then nothing more', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const pieces: string[] = [];
  for await (const piece of wrap(promise)) {
    pieces.push(piece);
    if (pieces.length === 3) resolve('done');
  }
  assert.deepEqual(pieces, [' ', ' ', ' ', 'done']);
});

test('yields no filler for a settled promise', async () => {
  assert.deepEqual(await Array.fromAsync(wrap(Promise.resolve('done'))), ['done']);
});

test('throws the error of the promise', async () => {
  await assert.rejects(Array.fromAsync(wrap(Promise.reject(new Error('no')))), /no/u);
});
