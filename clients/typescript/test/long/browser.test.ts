/** Uses the packed package in Chromium, with `localStorage` and Web Cryptography. */
import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { lacksChromium, launchChromium } from '../../../../scripts/lib/chromium.ts';
import { startTestService, TEST_ISSUER } from '../../../../server/test/harness.ts';
import { installPackage } from './install-package.ts';

const directory = await mkdtemp(join(tmpdir(), 'latchkey-page-'));
after(() => rm(directory, { recursive: true, force: true }));

/** Serves the modules of the installed package, and an empty page. */
async function servePage(dist: string): Promise<string> {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const isModule = path.endsWith('.js');
    response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html');
    if (isModule) createReadStream(join(dist, path)).pipe(response);
    else response.end('<!doctype html><title>Program</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}/`;
}

test(
  'activates in a page, and runs after a reload without the service',
  { skip: lacksChromium },
  async () => {
    const service = await startTestService({
      clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
    });
    const { licenseKey } = await service.issue();
    const { body } = await service.get('/.well-known/jwks.json');
    const url = await servePage(join(await installPackage(directory), 'dist'));
    const browser = await launchChromium();
    after(() => browser.close());
    const page = await browser.newPage();
    const open = (address: string): string => `
    const { Latchkey, webStore } = await import('/index.js');
    const latchkey = await Latchkey.open({
      service: '${address}', issuer: '${TEST_ISSUER}', products: ['personal'],
      publicKeys: ${JSON.stringify(Object(body).keys)}, appVersion: '2.4.0',
      store: webStore(localStorage, 'program'),
    });`;
    await page.goto(url);
    const activated: unknown = await page.evaluate(`(async () => { ${open(service.url)}
    const result = await latchkey.activate('${licenseKey}');
    return [result, latchkey.state.kind, latchkey.has('gpu')]; })()`);
    assert.deepEqual(activated, [{ ok: true }, 'licensed', true]);
    await page.reload();
    const kept: unknown = await page.evaluate(`(async () => { ${open('http://127.0.0.1:1')}
    const { kind, source } = latchkey.state;
    const result = await latchkey.check('reconnect');
    return [kind, source, result.cause, latchkey.state.kind]; })()`);
    assert.deepEqual(kept, ['licensed', 'kept', 'connection', 'licensed']);
  },
);
