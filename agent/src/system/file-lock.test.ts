import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { LockError, withFileLock } from './file-lock.ts';

test('rejects or waits while another holder works, and releases the lock after the work', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-agent-lock-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'lock');
  const order: string[] = [];
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const first = withFileLock(path, async () => {
    hold();
    await mayEnd;
    order.push('first');
    return 'result';
  });
  await isHeld;
  await assert.rejects(
    withFileLock(path, async () => assert.fail('two holders')),
    (error) => error instanceof LockError && error.isHeld,
  );
  const second = withFileLock(path, async () => void order.push('second'), 60);
  end();
  assert.deepEqual([await first, await second], ['result', undefined]);
  assert.deepEqual(order, ['first', 'second']);
});

test('rejects when the lock file cannot be created', async () => {
  const path = join(tmpdir(), 'missing-directory', 'lock');
  await assert.rejects(
    withFileLock(path, async () => assert.fail('no lock')),
    (error) => error instanceof LockError && !error.isHeld,
  );
});
