import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { codeOf, openBrowser, startBuyerService } from '../buyer-steps.ts';
import type { TestOrder } from '../harness.ts';
import { CATALOG, testCatalog } from '../test-catalog.ts';
import { DAY_MS, TEST_START } from '../test-clock.ts';
import { readItems } from './bodies.ts';

const service = await startBuyerService();
service.useCatalog(
  testCatalog(
    CATALOG.replace(
      '    duration_days: 365\n',
      `    duration_days: 365
    renew_url: https://shop.example.com/renew?a=1&license={license_id}
    upgrade_url: https://shop.example.com/{license_id}/more
`,
    ),
  ),
);

const WORDS = {
  en: ['Renew', 'Upgrade'],
  de: ['Verlängern', 'Upgrade kaufen'],
  fr: ['Renouveler', 'Passer à une version supérieure'],
} as const;

let buyers = 0;

/** Issues licenses to a new address, and signs a browser in by a code. */
async function open(orders: readonly TestOrder[], language = 'en') {
  const email = `buyer${(buyers += 1)}@example.com`;
  const ids: string[] = [];
  for (const order of orders) {
    const issued = await service.issue({ productId: 'yearly', customerEmail: email, ...order });
    ids.push(issued.license.id);
  }
  const browser = openBrowser(service, { language });
  await browser.submit('/my/email', { email });
  const code = codeOf((await service.readMails()).at(-1));
  const { text } = await browser.submit('/my/code', { code });
  return { browser, email, ids, text };
}

/** Lists the links to the shop of a page. */
function linksOf(text: string): (readonly [href: string, label: string])[] {
  const links = text.matchAll(
    /<a class="button[^"]*" href="(?<href>https:[^"]*)" rel="noopener noreferrer">(?<label>[^<]*)</gu,
  );
  return Array.from(links, ({ groups }) => [groups?.['href'] ?? '', groups?.['label'] ?? '']);
}

describe('a license whose product has links to the shop', () => {
  for (const [language, [renew, upgrade]] of Object.entries(WORDS)) {
    test(`has them as buttons on its page and in the list, with its id (${language})`, async () => {
      const { browser, ids, text } = await open([{}, { productId: 'personal' }], language);
      const [id = ''] = ids;
      const expected = [
        [`https://shop.example.com/renew?a=1&amp;license=${id}`, renew],
        [`https://shop.example.com/${id}/more`, upgrade],
      ];
      assert.deepEqual(linksOf(text), expected);
      assert.ok(text.includes(`>${renew}<span class="hidden"> (Yearly, `));
      assert.deepEqual(linksOf((await browser.get(`/my/licenses/${id}`)).text), expected);
      assert.deepEqual(linksOf((await browser.get(`/my/licenses/${ids[1]}`)).text), []);
    });
  }

  test('is offered no purchase that would need attention', async () => {
    const at = TEST_START;
    const { browser, ids } = await open([
      { facts: { refunded_at: at } },
      { facts: { revoked_at: at } },
      { facts: { suspended_at: at } },
      { facts: { is_test: true } },
    ]);
    for (const id of ids) {
      assert.deepEqual(linksOf((await browser.get(`/my/licenses/${id}`)).text), [], id);
    }
  });
});

test('the interface for buyers returns the links, and leaves out those that are not offered', async () => {
  const email = 'interface@example.com';
  const end = new Date(TEST_START.getTime() + 30 * DAY_MS);
  const order = { productId: 'yearly', customerEmail: email };
  const { license } = await service.issue({ ...order, expiresAt: end });
  const { license: running } = await service.issue({ ...order, facts: { subscription: true } });
  const { license: other } = await service.issue({ ...order, productId: 'personal' });
  const requested = await service.post('/api/v1/buyers/codes', { email });
  const { request_token: token } = Parse(
    Type.Object({ request_token: Type.String() }),
    requested.body,
  );
  const code = codeOf((await service.readMails()).at(-1));
  const signedIn = await service.post('/api/v1/buyers/sessions', { request_token: token, code });
  const { session } = Parse(Type.Object({ session: Type.String() }), signedIn.body);
  const { body } = await service.get('/api/v1/buyers/licenses', { 'x-buyer-session': session });
  const links = readItems(body).map((item) => [item['id'], item['renew_url'], item['upgrade_url']]);
  assert.deepEqual(
    new Map(links.map(([id, ...urls]) => [id, urls])),
    new Map([
      [other.id, [undefined, undefined]],
      [running.id, [undefined, `https://shop.example.com/${running.id}/more`]],
      [
        license.id,
        [
          `https://shop.example.com/renew?a=1&license=${license.id}`,
          `https://shop.example.com/${license.id}/more`,
        ],
      ],
    ]),
  );
});
