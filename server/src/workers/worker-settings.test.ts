import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { readEnvironment } from '#server/config/env.ts';
import { loadConfiguration } from '#server/config/load.ts';

import { describeForAccount } from './worker-settings.ts';

function failToRead(): string {
  return assert.fail('a worker reads no file');
}

test('passes secrets in files on as values, also when the worker inherits the variables of the files', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-worker-settings-'));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'redis-url');
  await writeFile(path, 'redis://redis.example.com:6379\n');
  const variables = { REDIS_URL: '', REDIS_URL_FILE: path, LATCHKEY_PORT: '8081' };
  const settings = {
    LATCHKEY_SECRET: 'the master secret of this test of workers',
    LATCHKEY_DATA_DIR: directory,
  };
  const configuration = loadConfiguration(settings, directory);
  const passed = { ...variables, ...describeForAccount(configuration, variables) };
  const { environment, problems } = readEnvironment(passed, failToRead);
  assert.deepEqual(problems, []);
  assert.equal(String(environment.redisUrl), 'redis://redis.example.com:6379');
  assert.equal(environment.port, 8081);
});
