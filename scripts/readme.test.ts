/**
 * The README's five minutes, run as a newcomer would: each `sh` block in order by a shell, with curl, against a service
 * in a process of its own; what stands in the block below it must be what comes out.
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

test('the five minutes of the README run as they stand, with the answers that it shows', async (t) => {
  if (!hasPrograms('curl')) return t.skip('there is no curl on this machine');
  const readme = readFileSync(join(repository, 'README.md'), 'utf8');
  const steps = readSteps(/^## Five minutes\n(.*?)^## /ms.exec(readme)?.[1] ?? '');
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
