/** Uses the built core in Chromium, with `localStorage` and Web Cryptography. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';

import { lacksChromium, launchChromium } from '../../../../scripts/lib/chromium.ts';
import { startTestService, TEST_ISSUER } from '../../../../server/test/harness.ts';
import { bundleModules } from '../../build/bundle.ts';

/** Serves the modules, and an empty page. */
async function servePage(): Promise<string> {
  const modules = new Map((await bundleModules()).map(({ file, code }) => [`/${file}`, code]));
  const server = createServer((request, response) => {
    const code = modules.get(request.url ?? '');
    response.setHeader('content-type', code === undefined ? 'text/html' : 'text/javascript');
    response.end(code ?? '<!doctype html><title>Program</title>');
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
    const url = await servePage();
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
