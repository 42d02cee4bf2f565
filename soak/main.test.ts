/** What `npm run soak` refuses, before it loads the service. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { repository } from '../scripts/lib/steps.ts';
import { runScript } from '../server/test/run-script.ts';

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runScript(join(repository, 'soak', 'main.ts'), args, env);

test('prints its help with examples', async () => {
  const { code, stdout } = await start(['--help']);
  assert.equal(code, 0);
  assert.match(stdout, /npm run soak -- --small --faults/u);
});

test('refuses wrong options with a sentence', async () => {
  const { code, stderr } = await start(['--machines', '7']);
  assert.equal(code, 2);
  assert.match(stderr, /^--machines must be a whole number from 100 to 1000000\.$/mu);
});

test('refuses the settings of a real installation', async () => {
  const { code, stderr } = await start([], { DATABASE_URL: 'postgres://localhost/shop' });
  assert.equal(code, 78);
  assert.match(stderr, /Unset these variables first: DATABASE_URL\./u);
});
