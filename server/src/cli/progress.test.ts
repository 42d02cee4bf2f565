import assert from 'node:assert/strict';
import { test } from 'node:test';

import { eventually } from '../../test/eventually.ts';
import { withProgress } from './output.ts';

/** A terminal that records its output. */
function openTerminal(isTTY: boolean) {
  const written: string[] = [];
  const write = (text: unknown): boolean => written.push(String(text)) > 0;
  return { terminal: { isTTY, write }, written };
}

test('shows progress on a terminal, and clears the line at the end', async () => {
  const { terminal, written } = openTerminal(true);
  const result = await withProgress(
    'events',
    async (report) => {
      report(7);
      return 'result';
    },
    terminal,
  );
  assert.equal(result, 'result');
  assert.deepEqual(written, ['\r7 events…\u001B[K', '\r\u001B[K']);
});

test('shows a state that lasts, also one that follows another at once', async () => {
  const { terminal, written } = openTerminal(true);
  await withProgress(
    'events',
    async (report) => {
      for (const done of [7, 8, 9]) report(done);
      await eventually(() => written.length === 2);
    },
    terminal,
  );
  assert.deepEqual(written, ['\r7 events…\u001B[K', '\r9 events…\u001B[K', '\r\u001B[K']);
});

test('clears the line of work that fails', async () => {
  const { terminal, written } = openTerminal(true);
  const failed = withProgress('events', () => Promise.reject(new Error('no')), terminal);
  await assert.rejects(failed, /no/u);
  assert.deepEqual(written, ['\r\u001B[K']);
});

test('writes no progress to a file', async () => {
  const { terminal, written } = openTerminal(false);
  await withProgress('events', async (report) => report(7), terminal);
  assert.deepEqual(written, []);
});
