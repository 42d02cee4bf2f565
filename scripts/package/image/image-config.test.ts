import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { repository } from '../../lib/steps.ts';
import { readServiceFlags } from '../service/service-flags.ts';
import { parseImageConfig } from './image-config.ts';

const containerfile = readFileSync(join(repository, 'deploy/Containerfile'), 'utf8');

test('the Containerfile starts the service with the flags of npm start', async () => {
  const { Entrypoint = [], Env = [], User, Healthcheck } = parseImageConfig(containerfile);
  const flags = await readServiceFlags(repository);
  const [node, ...rest] = Entrypoint;
  assert.equal(node, '/opt/latchkey/bin/node');
  assert.deepEqual(rest, [...flags, '/opt/latchkey/server/src/main.js']);
  // Kubernetes accepts only a number as an account that is not root.
  assert.equal(User, '10001:10001');
  assert.ok(Env.includes('LATCHKEY_DATA_DIR=/var/lib/latchkey'));
  assert.equal(Env.length, 6);
  assert.deepEqual(Healthcheck, {
    Test: ['CMD', '/opt/latchkey/bin/node', '/opt/latchkey/healthcheck.mjs'],
    Interval: 30e9,
    Timeout: 5e9,
    StartPeriod: 60e9,
    Retries: 3,
  });
});

test('an instruction that runs a program is rejected, because a release runs none', () => {
  assert.throws(() => parseImageConfig(`${containerfile}RUN ldconfig\n`), /must not contain "RUN/);
});
