/** A page that stays open while the process of the service is killed, and started again on the same port. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { createTestDatabase } from '../../server/test/database.ts';
import { findFreePort } from '../../server/test/ports.ts';
import { createServiceHome } from '../../server/test/service-process.ts';
import { execute } from '../../server/test/test-cluster.ts';
import { press, type } from './keyboard.ts';
import { lacksChromium, launchChromium } from '../../scripts/lib/chromium.ts';
import { waitUntilShown } from './windows.ts';

const EMAIL = 'anna@example.com';
const PASSWORD = 'a password of the tests';
const BANNER = 'The service does not answer. This page keeps trying';

/** Redeems a sign-in link over HTTP, and returns the value of the session's cookie. */
async function redeem(url: string, link: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/admin/session/redeem`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token: new URL(link).hash.slice(1), password: PASSWORD }),
  });
  const [cookie = ''] = response.headers.getSetCookie();
  return /^latchkey=([^;]+)/.exec(cookie)?.[1] ?? '';
}

function waitForBanner(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  return page.getByText(BANNER).waitFor({ state });
}

test(
  'a page reports that the service was killed, and goes on by itself once it runs again',
  { skip: lacksChromium },
  async () => {
    await using resources = new AsyncDisposableStack();
    const database = await createTestDatabase();
    resources.defer(() => database.drop());
    const home = resources.use(await createServiceHome());
    const port = String(await findFreePort());
    const url = `http://127.0.0.1:${port}`;
    const settings = {
      DATABASE_URL: database.url,
      LATCHKEY_SECRET: 'a master secret for the tests alone',
      LATCHKEY_PORT: port,
      LATCHKEY_PUBLIC_URL: url,
    };
    const killed = await home.start(settings);
    const created = await home.run(['operator', 'create', EMAIL, '--json'], settings);
    const value = await redeem(url, /https?:[^"\s]+/.exec(created)?.[0] ?? '');
    const browser = await launchChromium();
    resources.defer(() => browser.close());
    const context = await browser.newContext();
    await context.addCookies([{ name: 'latchkey', value, url }]);
    const page = await context.newPage();
    await page.goto(`${url}/console/account`);
    await waitUntilShown(page);
    await press(page, 'Change password');
    await type(page, 'New password', 'a password that is kept');

    assert.deepEqual(await killed.stop('SIGKILL'), { code: null, signal: 'SIGKILL' });
    await page.keyboard.press('Enter');
    await waitForBanner(page, 'visible');
    await execute(database.url, `update operator_sessions set network = '198.51.100.77'`);
    await execute(database.url, `update operators set name = 'Anna Renamed', role = 'viewer'`);
    const restarted = await home.start(settings);
    assert.equal(restarted.url, url);

    // Nobody touches the page: it reads again what it shows, and keeps what was typed.
    await waitForBanner(page, 'hidden');
    await page.getByRole('cell', { name: '198.51.100.77' }).waitFor();
    await page.locator('.who').getByText('Anna Renamed').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Operators' }).count(), 0);
    assert.equal(await page.getByLabel('New password').inputValue(), 'a password that is kept');
    await press(page, 'Change password');
    await page.getByText('The password was changed.').waitFor();
  },
);
