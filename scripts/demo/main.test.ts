/** What `npm run demo` refuses, before it loads the service. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

import { inheritedVariables } from '../../server/test/inherited-variables.ts';
import { repository } from '../lib/steps.ts';

const main = join(repository, 'scripts', 'demo', 'main.ts');

async function start(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...inheritedVariables(), ...env },
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code: Number(code), stdout, stderr };
}

test('prints its help with examples', async () => {
  const { code, stdout } = await start(['--help']);
  assert.equal(code, 0);
  assert.match(stdout, /npm run demo -- --licenses 50000/);
});

test('refuses the settings of a real installation', async () => {
  const { code, stderr } = await start([], { DATABASE_URL: 'postgres://localhost/shop' });
  assert.equal(code, 78);
  assert.match(stderr, /Unset these variables first: DATABASE_URL\./);
});

test('refuses wrong options', async () => {
  const { code, stderr } = await start(['--licenses', '7']);
  assert.equal(code, 2);
  assert.match(stderr, /--licenses must be a whole number from 300 to 200000\./);
});

test('refuses a port that is in use, in one sentence', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  assert.ok(address !== null && typeof address === 'object');
  const port = String(address.port);
  const { code, stderr } = await start(['--port', port]);
  other.close();
  assert.equal(code, 2);
  assert.match(stderr, new RegExp(`^Port ${port} is in use, perhaps by another demo\\.`, 'u'));
});
