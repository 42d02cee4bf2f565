/** Signing in and out, and sessions that end or cannot be reached under an open page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import {
  openBrowser,
  TEST_PASSWORD,
  redeemAsBrowser,
} from '../../../server/test/operator-steps.ts';
import { press, waitForFocus, tabTo, type } from '../keyboard.ts';
import type { Console } from '../open-console.ts';
import { waitUntilShown } from '../windows.ts';

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await type(page, 'E-mail address', email);
  await type(page, 'Password', password);
  await page.keyboard.press('Enter');
}

/** Ends the sessions of an operator in the database, as revoking them elsewhere does. */
async function endSessions({ service }: Console, email: string): Promise<void> {
  await service.pool.query(
    'delete from operator_sessions where operator_id = (select id from operators where email = $1)',
    [email],
  );
}

/** For a test that changes the clock of the page. */
const CLOCK = { width: 1440, own: true };

/** Lets time pass until the page has tried again with success. */
async function waitForRetry(page: Page): Promise<void> {
  const banner = page.getByText('The service does not answer. This page');
  while (await banner.isVisible()) await page.clock.runFor(RETRY_MS);
}

/** How often the console asks a service that does not answer. */
const RETRY_MS = 3_000;

/** How old the session may be when the window gets the focus. */
const REFRESH_MS = 10_000;

const DAY_MS = 86_400_000;

export function testSession(running: () => Console): void {
  test('signs in by keyboard and returns to the page that was asked for', async () => {
    const { email } = await redeemAsBrowser(running().service);
    const { page, close, go } = await running().open(null);
    await go('/account?x=1');
    assert.match(page.url(), /\/console\/sign-in\?next=%2Faccount%3Fx%3D1$/);
    await waitForFocus(page, 'E-mail address');
    await signIn(page, email, 'not the password');
    await page.getByRole('alert').waitFor();
    await signIn(page, email, TEST_PASSWORD);
    await page.waitForURL('**/console/account?x=1');
    await page.getByText(email).waitFor();
    await close(/status of 401/);
  });

  test('signs out and leaves nothing to go back to', async () => {
    const { page, close, go } = await running().open('viewer');
    await go('/account');
    await go('/account?x=1');
    await press(page, 'Sign out');
    await page.waitForURL('**/console/sign-in**');
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await close(/status of 401/);
  });

  test('asks to sign in again when the session ended, and keeps what was entered', async () => {
    const opened = running();
    const { email } = await redeemAsBrowser(opened.service);
    const { page, close, go } = await opened.open(null);
    await go('/account');
    await signIn(page, email, TEST_PASSWORD);
    await press(page, 'Change password');
    await type(page, 'New password', 'another long password');
    await endSessions(opened, email);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your session ended' }).waitFor();
    await type(page, 'Password', TEST_PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByText('The password was changed.').waitFor();
    await close(/status of 401/);
  });

  test('leaves nothing of an operator to the next one in the same tab', async () => {
    const opened = running();
    const [ada, bob] = [
      await redeemAsBrowser(opened.service),
      await redeemAsBrowser(opened.service),
    ];
    const { page, close, go, follow } = await opened.open(null);
    const readDraft = async (): Promise<readonly string[]> => {
      const subject = page.getByLabel('Subject', { exact: true });
      await page.getByLabel('Pasted addresses').check();
      const list = page.getByLabel('Addresses', { exact: true });
      return [await subject.inputValue(), await list.inputValue()];
    };
    await go('/outreach/new');
    await signIn(page, ada.email, TEST_PASSWORD);
    await page.getByLabel('Subject', { exact: true }).fill('By Ada alone');
    await page.getByLabel('Pasted addresses').check();
    await page.getByLabel('Addresses', { exact: true }).fill('customer@example.com');
    await endSessions(opened, ada.email);
    // Not a click, because the preview may have opened the dialog above it already.
    await page.getByRole('button', { name: 'Save', exact: true }).dispatchEvent('click');
    await page.getByRole('heading', { name: 'Your session ended' }).waitFor();
    await signIn(page, bob.email, TEST_PASSWORD);
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    assert.deepEqual(await readDraft(), ['', '']);
    const { rows } = await opened.service.pool.query(
      `select 1 from outreach_campaigns where name = 'By Ada alone'`,
    );
    assert.deepEqual(rows, [], 'the request of one operator was sent by another');
    await page.getByLabel('Addresses', { exact: true }).fill('other@example.com');
    await press(page, 'Sign out');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(page, ada.email, TEST_PASSWORD);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await follow('/outreach/new');
    await page.getByText('This is what you wrote before').waitFor();
    assert.deepEqual(await readDraft(), ['By Ada alone', '']);
    await close(/status of 401/);
  });

  test('shows the operator who signed in in another tab once the window has the focus', async () => {
    const opened = running();
    const { page, context, close, go } = await opened.open('admin', CLOCK);
    await page.clock.install();
    await go('/operators');
    const { cookie } = await openBrowser(opened.service, 'viewer');
    const value = cookie.slice(cookie.indexOf('=') + 1);
    await context.addCookies([{ name: 'latchkey', value, url: opened.service.url }]);
    await page.clock.runFor(REFRESH_MS);
    await page.evaluate(`dispatchEvent(new Event('focus'))`);
    await page.getByRole('heading', { name: 'Not allowed' }).waitFor();
    await page.locator('.who').getByText('viewer').first().waitFor();
    assert.equal(await page.getByRole('link', { name: 'Operators' }).count(), 0);
    await close(/status of 403/);
  });

  test('reports a service that does not answer, and goes on when it is back', async () => {
    const { page, context, close, go } = await running().open('admin', CLOCK);
    await page.clock.install();
    await go('/account');
    await press(page, 'Change password');
    await type(page, 'New password', 'a password that is kept');
    await context.setOffline(true);
    await page.keyboard.press('Enter');
    await page.getByText('The service does not answer. This page').waitFor();
    await page.getByRole('alert').waitFor();
    await context.setOffline(false);
    await waitForRetry(page);
    const field = page.getByLabel('New password');
    assert.equal(await field.inputValue(), 'a password that is kept');
    await press(page, 'Change password');
    await page.getByText('The password was changed.').waitFor();
    await close(/ERR_INTERNET_DISCONNECTED/);
  });

  test('goes to pages, search and help by keys, but not while typing', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/account');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await press(page, 'Change password');
    await tabTo(page, 'New password');
    await page.keyboard.type('?g/');
    assert.equal(await page.getByLabel('New password').inputValue(), '?g/');
    await close();
  });

  test('goes to every page of the help by its keys', async () => {
    const { page, close, go, follow } = await running().open('admin');
    await go('/account');
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard' });
    await dialog.waitFor();
    const keys = await page.evaluate<string[]>(
      `Array.from(document.querySelectorAll('.keys kbd + kbd'), (each) => each.textContent)`,
    );
    await page.keyboard.press('Escape');
    assert.equal(new Set(keys).size, keys.length, `two pages have one key: ${keys.join(' ')}`);
    for (const key of keys) {
      await follow('/account');
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.waitForURL((url) => url.pathname !== '/console/account');
    }
    await close();
  });

  test('opens the menu of a narrow window by keyboard', async () => {
    const { page, close, go } = await running().open('admin', { width: 360 });
    await go('/account');
    const signOut = page.getByRole('button', { name: 'Sign out' });
    assert.equal(await signOut.isVisible(), false);
    await press(page, 'Menu');
    await signOut.waitFor();
    await close();
  });

  test('shows names of operators as text', async () => {
    const name = `<img src=x onerror=alert(1)><script>alert(2)</script>"'\u202Eاختبار👩‍💻${'x'.repeat(120)}`;
    const { page, close, go } = await running().open('viewer', { width: 360 });
    await running().service.pool.query(
      `update operators set name = $1 where id = (select operator_id from operator_sessions order by created_at desc limit 1)`,
      [name],
    );
    await go('/account');
    assert.equal((await page.locator('h1').textContent())?.startsWith(name), true);
    assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), 360);
    await close();
  });

  test('uses the time of the service where the clock of the computer is off', async () => {
    const { service, world } = running();
    const { page, close, go, follow } = await running().open('viewer', CLOCK);
    await page.clock.setFixedTime(Date.now() + 400 * DAY_MS);
    await go('/account');
    await page.getByRole('cell', { name: 'just now' }).waitFor();
    await follow('/usage');
    const today = service.clock.now().toISOString().slice(0, 10);
    assert.equal(await page.getByLabel('To', { exact: true }).inputValue(), today);
    await follow(`/licenses/${world['workingLicenseId']}`);
    await page.getByRole('columnheader', { name: 'Runs offline until' }).waitFor();
    assert.equal(await page.getByRole('cell', { name: 'Over', exact: true }).count(), 0);
    await close();
  });

  test('goes on after a restart that answers 503 and the page of a proxy', async () => {
    const { page, close, go } = await running().open('viewer', CLOCK);
    await page.clock.install();
    await go('/account');
    let count = 0;
    await page.route('**/api/v1/admin/**', async (route) => {
      count += 1;
      const body = '<html>Bad gateway</html>';
      if (count > 2) await route.continue();
      else await route.fulfill({ status: 502, contentType: 'text/html', body });
    });
    await press(page, 'Change password');
    await type(page, 'New password', 'a password that is kept');
    await page.keyboard.press('Enter');
    await page.getByText('The service does not answer. This page').waitFor();
    await waitForRetry(page);
    assert.equal(await page.getByLabel('New password').inputValue(), 'a password that is kept');
    await close(/status of 502/);
  });

  test('answers an unknown address with a page', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/no/such/page');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await waitUntilShown(page);
    await close();
  });
}
