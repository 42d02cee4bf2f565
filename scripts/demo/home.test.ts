/** The directory of a demo: what it continues, and what it refuses. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { findForeignSettings, openHome, type DemoHome } from './home.ts';
import { UsageError } from './options.ts';

function createDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'latchkey-home-'));
}

function open(keep: string | null): Promise<DemoHome> {
  return openHome({ keep, port: 4_480, licenses: 400, seed: 'contour' }, 2_525);
}

test('keeps a given directory, and continues it once it was filled', async () => {
  const keep = await createDirectory();
  const first = await open(keep);
  assert.deepEqual([first.isFilled, first.totpSecret], [false, null]);
  await first.markFilled('SECRET');
  await first.remove();
  const second = await open(keep);
  assert.deepEqual([second.isFilled, second.totpSecret], [true, 'SECRET']);
});

test('removes a directory of its own', async () => {
  const home = await open(null);
  await home.remove();
  assert.equal(existsSync(home.directory), false);
});

test('refuses the database of another version in one sentence', async () => {
  const keep = await createDirectory();
  await writeFile(join(keep, 'demo'), 'SECRET\nthe hash of another schema\n');
  const message = `${keep} holds the demo of another version of Latchkey: remove it, or choose another directory.`;
  await assert.rejects(open(keep), new UsageError(message));
  assert.deepEqual(await readdir(keep), ['demo']);
});

test('refuses a directory that belongs to no demo', async () => {
  const other = await createDirectory();
  await writeFile(join(other, 'secret'), 'of a real installation');
  await assert.rejects(open(other), /is not empty and belongs to no demo/);
  assert.deepEqual(await readdir(other), ['secret']);
});

test('finds the settings of a real installation', () => {
  const environment = {
    DATABASE_URL: 'postgres://localhost/shop',
    LATCHKEY_SMTP_URL: 'smtp://relay',
    LATCHKEY_TEST_DATABASE_URL: 'postgres://localhost/test',
    PATH: '/usr/bin',
  };
  assert.deepEqual(findForeignSettings(environment), ['DATABASE_URL', 'LATCHKEY_SMTP_URL']);
});
