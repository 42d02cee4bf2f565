/** Runs the examples of docs/operations/payments.md. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../server/test/harness.ts';
import { testCatalog } from '../server/test/test-catalog.ts';
import {
  followSteps,
  hasPrograms,
  readSteps,
  startDocumentedService,
  WRITTEN_URL,
} from './lib/documented-service.ts';
import { repository } from './lib/steps.ts';

const run = promisify(execFile);
const document = readFileSync(join(repository, 'docs/operations/payments.md'), 'utf8');

test('a payment sent without Paddle creates the documented license', async (t) => {
  if (!hasPrograms('curl', 'openssl')) return t.skip('curl or openssl is missing');
  const section = /^### Try it without Paddle\n(.*?)^## /ms.exec(document)?.[1] ?? '';
  const [start = '', name = '', secret = ''] =
    /^```sh\n(LATCHKEY_\w+)=(\S+) npm start\n```$/m.exec(section) ?? [];
  const steps = readSteps(section.replace(start, ''));
  assert.equal(steps.length, 3);
  await using service = await startDocumentedService({ [name]: secret });
  await followSteps(service, steps);
});

test('the documented program signs a purchase that the service accepts', async () => {
  const [, program = ''] = /^### Try it\n.*?^```js\n(.*?)^```$/ms.exec(document) ?? [];
  const [, prices = ''] = /`(prices: \{ standard: .*?\})`/.exec(document) ?? [];
  const catalog = testCatalog(
    `key_prefix: LK\ntrial: { product: personal }\nproducts:\n  - { id: personal, name: P, tier: p, max_activations: 1, ${prices} }\n`,
  );
  const service = await startTestService({ catalog });
  service.clock.set(new Date());
  const [secret] = TEST_WEBHOOK_SECRETS.standard;
  const script = program.replaceAll(WRITTEN_URL, service.url);
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: repository,
    env: { WEBHOOK_SECRET: secret },
  });
  assert.match(stdout, /^200 \{.*status: 'processed'/s);
  assert.equal(await service.count('licenses'), 1);
});
