/**
 * Runs docs/first-steps.md: each `sh` block in order, in a shell, against a service in a separate process. The output must equal
 * the block below it.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';

import {
  followSteps,
  hasPrograms,
  readSteps,
  startDocumentedService,
} from './lib/documented-service.ts';
import { repository } from './lib/steps.ts';

const service = await startDocumentedService();
after(() => service[Symbol.asyncDispose]());

test('the first steps print the documented answers', async (t) => {
  if (!hasPrograms('curl')) return t.skip('there is no curl on this machine');
  const steps = readSteps(readFileSync(join(repository, 'docs/first-steps.md'), 'utf8'));
  assert.deepEqual(
    steps.map(({ command }) => /latchkey \w+ \w+|(?<=v1|8080)\/(?!api)\S+/.exec(command)?.[0]),
    [
      'latchkey license issue',
      '/licenses/activate',
      '/licenses/validate',
      '/licenses/$KEY/activations',
      '/licenses/deactivate',
      '/trial/start',
      '/usage/heartbeat',
      '/events',
      'latchkey report refresh',
      '/.well-known/jwks.json',
      '/licenses/LK-NO-SUCH-KEY/activations',
    ],
  );
  await followSteps(service, steps);
});
