/** Runs the examples of the pages about payment providers. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { PAYMENT_PROVIDERS } from '@latchkey/contract';

import { PROVIDER_SETTINGS } from '#server/config/payment-providers.ts';
import { findAdapter } from '#server/features/billing/providers/adapters.ts';

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
const readPage = (name: string): string =>
  readFileSync(join(repository, 'docs/integrations/payments', name), 'utf8');

test('each provider has a page and a row with its address, its setting and its prices', () => {
  const overview = readFileSync(join(repository, 'docs/operations/payments.md'), 'utf8');
  const provided = PAYMENT_PROVIDERS.filter((provider) => findAdapter(provider) !== undefined);
  assert.ok(provided.length >= 8);
  for (const provider of provided) {
    const { page, secretsVariable } = PROVIDER_SETTINGS[provider];
    const address = `/api/v1/webhooks/${provider === 'paddle' ? 'billing' : provider}`;
    const row = overview.split('\n').find((line) => line.includes(`payments/${page})`)) ?? '';
    for (const said of [`\`${address}\``, `\`${secretsVariable}\``, `\`${provider}\``]) {
      assert.ok(row.includes(said), `${provider}: ${said} in the table`);
    }
    const text = readPage(page);
    const names = provider === 'standard' ? [address] : [address, secretsVariable, `${provider}:`];
    for (const said of names) assert.ok(text.includes(said), `${page}: ${said}`);
  }
});

test('a payment sent without Paddle creates the documented license', async (t) => {
  if (!hasPrograms('curl', 'openssl')) return t.skip('curl or openssl is missing');
  const section = /^### Without Paddle\n(.*?)^## /ms.exec(readPage('paddle.md'))?.[1] ?? '';
  const [start = '', name = '', secret = ''] =
    /^```sh\n(LATCHKEY_\w+)=(\S+) npm start\n```$/m.exec(section) ?? [];
  const steps = readSteps(section.replace(start, ''));
  assert.equal(steps.length, 3);
  await using service = await startDocumentedService({ [name]: secret });
  await followSteps(service, steps);
});

test('the documented program signs a purchase that the service accepts', async () => {
  const document = readPage('own-shop.md');
  const [, program = ''] = /^## Try it\n.*?^```js\n(.*?)^```$/ms.exec(document) ?? [];
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
