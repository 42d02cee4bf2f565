/** What `npm run demo` refuses, before it loads the service. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';

import { runScript } from '../../server/test/run-script.ts';
import { repository } from '../lib/steps.ts';

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runScript(join(repository, 'scripts', 'demo', 'main.ts'), args, env);

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
