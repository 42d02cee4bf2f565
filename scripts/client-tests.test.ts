import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import type { ClientUnderTest } from '../clients/conformance/driver/clients.ts';
import { runClientTests } from './lib/client-tests.ts';

const client: ClientUnderTest = { name: 'swift', command: ['swift'], needs: [], folder: tmpdir() };
const going = new AbortController().signal;

/** Collects what is printed. */
function collectLines(t: TestContext): string[] {
  const lines: string[] = [];
  t.mock.method(console, 'log', (line: string) => void lines.push(line));
  return lines;
}

test('runs every test of every client, and fails if one of them fails', async (t) => {
  const lines = collectLines(t);
  const failing = { ...client, tests: [{ command: ['false'] }, { command: ['true'] }] };
  assert.equal(await runClientTests([failing], going), false);
  assert.equal(
    await runClientTests([client, { ...client, tests: failing.tests.slice(1) }], going),
    true,
  );
  assert.deepEqual(lines, ['swift: false: failed', 'swift: true: passed', 'swift: true: passed']);
});

test('skips tests whose programs are missing, and says which', async (t) => {
  const lines = collectLines(t);
  const tests = [{ command: ['false'], needs: ['no-such-builder'] }];
  assert.equal(await runClientTests([{ ...client, tests }], going), true);
  const uncompiled = { ...client, tests: [{ command: ['false'] }], needs: ['no-such-compiler'] };
  assert.equal(await runClientTests([uncompiled], going), true);
  assert.deepEqual(lines, [
    'swift: false: skipped: no no-such-builder',
    'swift: false: skipped: no no-such-compiler',
  ]);
});

test('runs a test in the folder of the client, with an empty folder that is removed', async (t) => {
  collectLines(t);
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-client-tests-'));
  t.after(() => rm(folder, { recursive: true }));
  const keepPath = { command: ['ln', '-s', '{out}', 'out'] };
  const write = { command: ['touch', '{out}/written'] };
  assert.equal(
    await runClientTests([{ ...client, folder, tests: [keepPath, write] }], going),
    true,
  );
  assert.deepEqual(await readdir(folder), ['out']);
  assert.equal(existsSync(join(folder, 'out')), false);
});

test('runs nothing after a request to stop', async () => {
  const tests = [{ command: ['true'] }];
  assert.equal(await runClientTests([{ ...client, tests }], AbortSignal.abort()), false);
});
