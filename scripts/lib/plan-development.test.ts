import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { planDevelopment, WATCHED_DIRECTORIES } from './plan-development.ts';
import { repository } from './steps.ts';

test('attaches the debugger to the service, which gets the other options', () => {
  const args = planDevelopment(['--inspect=127.0.0.1:9230', '--workers', '2']);
  const program = args.indexOf('server/src/main.ts');
  assert.equal(args[0], '--inspect=127.0.0.1:9230');
  assert.deepEqual(args.slice(program), ['server/src/main.ts', 'serve', '--workers', '2']);
});

test('watches directories that exist', () => {
  const args = planDevelopment([]);
  for (const directory of WATCHED_DIRECTORIES) {
    assert.ok(existsSync(join(repository, directory)), directory);
    assert.ok(args.includes(`--watch-path=${directory}`), directory);
  }
});
