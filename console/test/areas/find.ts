/** The search by keyboard alone, the start page, trials, and the data of a customer. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { activate } from '../../../server/test/license-steps.ts';
import { openBrowser } from '../../../server/test/operator-steps.ts';
import { press, waitForFocus, type } from '../keyboard.ts';
import type { Console } from '../open-console.ts';
import { waitUntilShown } from '../windows.ts';

/** Opens the search, types, and waits for a hit. */
async function search(page: Page, text: string, hit: string): Promise<void> {
  await page.keyboard.press('/');
  await page.getByRole('dialog', { name: 'Search' }).waitFor();
  await waitForFocus(page, 'Search everything');
  await page.keyboard.type(text);
  await page.getByRole('option', { name: hit }).first().waitFor();
}

export function testFind(running: () => Console): void {
  test('finds a customer by the beginning of the address, by keyboard alone', async () => {
    const { page, close, go } = await running().open('viewer');
    await go('/');
    await search(page, 'grace.hop', 'Customer grace.hopper@example.com');
    // Its licenses precede the customer.
    const options = page.getByRole('option');
    const kinds = await options.locator('.kind').allTextContents();
    assert.deepEqual(new Set(kinds), new Set(['License', 'Customer']));
    for (let step = 0; step < kinds.indexOf('Customer'); step++) {
      await page.keyboard.press('ArrowDown');
    }
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console/customer?email=grace.hopper%40example.com');
    await page.getByRole('heading', { name: 'grace.hopper@example.com' }).waitFor();
    await waitUntilShown(page);
    assert.equal(await page.getByRole('button', { name: 'Export data' }).count(), 0);
    assert.equal(await page.getByRole('dialog').count(), 0);
    await close();
  });

  test('remembers what was opened, not what was typed, and forgets it at sign-out', async () => {
    const opened = running();
    const { page, close, go } = await opened.open('viewer');
    const key = opened.world['findKey'] ?? '';
    await go('/trials');
    await search(page, key, 'License');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/console/licenses/${opened.world['findLicense']}`);
    await page.keyboard.press('/');
    await page.getByText('Opened last').waitFor();
    await page.getByRole('option', { name: 'License' }).waitFor();
    const stored = await page.evaluate<string>('JSON.stringify({ ...sessionStorage })');
    assert.ok(!stored.includes(key.slice(3, 14)));
    await page.keyboard.press('Escape');
    await press(page, 'Sign out');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(await page.evaluate<number>('sessionStorage.length'), 0);
    await close();
  });

  test('shows nothing that another operator opened, who signed out in another tab', async () => {
    const opened = running();
    const { page, context, close, go } = await opened.open('viewer');
    await go('/');
    await search(page, opened.world['findKey'] ?? '', 'License');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/console/licenses/${opened.world['findLicense']}`);
    const { cookie } = await openBrowser(opened.service, 'viewer');
    const value = cookie.slice(cookie.indexOf('=') + 1);
    await context.addCookies([{ name: 'latchkey', value, url: opened.service.url }]);
    await go('/');
    await page.keyboard.press('/');
    await waitForFocus(page, 'Search everything');
    assert.equal(await page.getByText('Opened last').count(), 0);
    assert.equal(await page.evaluate<number>('sessionStorage.length'), 0);
    await close();
  });

  test('focuses the search of its page, also when a link leads there', async () => {
    const { page, close, go, follow } = await running().open('viewer');
    await go('/search?q=grace.hop');
    await waitForFocus(page, 'Search everything');
    await follow('/trials');
    await waitForFocus(page, 'Trials');
    await follow('/search');
    await waitForFocus(page, 'Search everything');
    await close();
  });

  test('says what can be found when nothing was', async () => {
    const { page, close, go } = await running().open('viewer');
    await go('/');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.keyboard.type('nobody-has-this');
    await page.getByText('Nothing found.').waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('dialog').count(), 0);
    await close();
  });

  test('leads from what needs an operator to its page', async () => {
    const { page, close, go } = await running().open('viewer');
    await go('/');
    await page.getByText('payment events failed, so licenses did not change.').waitFor();
    await page.getByText('Every outgoing webhook to crm.example.com/hooks fails.').waitFor();
    await press(page, 'Trials started');
    await page.waitForURL('**/console/trials');
    await page.getByText('TRIAL-MACHINE-01').waitFor();
    await close();
  });

  test('filters trials, and holds the filter in the address', async () => {
    const { page, close, go } = await running().open('viewer');
    await go('/trials');
    await press(page, 'Converted');
    await page.waitForURL('**/console/trials?state=converted');
    await waitUntilShown(page);
    await page.getByText('TRIAL-MACHINE-04').waitFor();
    assert.equal(await page.getByText('TRIAL-MACHINE-01').count(), 0);
    await close();
  });

  test('filters trials by a product that was tried and by one that was not', async () => {
    const { page, close, go } = await running().open('viewer');
    await go('/trials');
    const options = await page.getByLabel('Product').locator('option').allTextContents();
    assert.deepEqual(options.slice(0, 3), ['Any', 'Personal', 'Yearly']);
    await page.getByLabel('Product').selectOption('yearly');
    await page.getByText('Nothing matches').waitFor();
    assert.match(page.url(), /product=yearly/);
    await page.getByLabel('Product').selectOption('personal');
    await page.getByText('TRIAL-MACHINE-01').waitFor();
    await close();
  });

  test('shows texts of customers and events as text', async () => {
    const opened = running();
    const { page, close, go } = await opened.open('admin');
    await go('/customer?email=grace.hopper@example.com');
    await page.getByText('<img src=x onerror="alert(1)">').first().waitFor();
    await go(`/installs/${opened.world['findInstall']}`);
    await page.getByText('Details').first().click();
    await page.getByText('<img src=x onerror').first().waitFor();
    assert.equal(await page.locator('main img').count(), 0);
    await close();
  });

  test('names the archives that an erasure did not reach, until they are closed', async () => {
    const opened = running();
    await opened.service.pool.query(
      `insert into event_archives (day, location, events, checksum, archived_at)
       select day, '/var/lib/latchkey-archive', 1, '1', now()
       from unnest('{2026-01-01, 2026-01-03}'::date[]) as day`,
    );
    const { page, close, go, problems } = await opened.open('admin');
    await go('/installs/0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d');
    await press(page, 'Erase events');
    await type(page, 'Reason', 'request of 4 May');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Archived events are not erased' });
    await dialog.getByText('/var/lib/latchkey-archive').waitFor();
    await dialog.getByText('2 days, 2026-01-01 to 2026-01-03').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.waitFor({ state: 'detached' });
    await opened.service.pool.query('delete from event_archives');
    assert.deepEqual(problems, []);
    await close();
  });

  test('includes a shared install in an export and an erasure only when its box is checked', async () => {
    const { service, open } = running();
    const installId = randomUUID();
    for (const name of ['shared', 'sharer']) {
      const { license, licenseKey } = await service.issue({ customerEmail: `${name}@example.com` });
      await activate(service, licenseKey);
      await service.pool.query('update activations set install_id = $1 where license_id = $2', [
        installId,
        license.id,
      ]);
    }
    const { page, close, go } = await open('admin');
    await go('/customer?email=shared@example.com');
    await page.getByRole('link', { name: `install ${installId}` }).waitFor();
    const box = page.getByRole('checkbox', { name: `Include install ${installId}` });
    const download = async (includes: boolean) => {
      await press(page, 'Export data');
      if (includes) await box.check();
      await type(page, 'Reason', 'request of 3 May');
      const file = page.waitForEvent('download');
      await page.keyboard.press('Enter');
      return JSON.parse(readFileSync(await (await file).path(), 'utf8')).left_out.installs;
    };
    assert.deepEqual(await download(false), [installId]);
    assert.deepEqual(await download(true), []);
    await press(page, 'Erase …');
    await page.getByText('events kept: licenses of others were activated there, too').waitFor();
    await box.check();
    await type(page, 'Reason', 'request of 4 May');
    await page.keyboard.press('Enter');
    await page.getByText('The customer was erased.').waitFor();
    const { rows } = await service.pool.query(
      `select details->'included_installs' as included from audit_log
       where action = 'customer.erase' and details ? 'included_installs'`,
    );
    assert.deepEqual(rows, [{ included: 1 }]);
    await close();
  });

  test('exports and erases a customer with a reason', async () => {
    const opened = running();
    await opened.service.issue({ customerEmail: 'erase.me@example.com' });
    const { page, close, go } = await opened.open('admin');
    await go('/customer?email=erase.me@example.com');
    await press(page, 'Export data');
    await type(page, 'Reason', 'request of 3 May');
    const download = page.waitForEvent('download');
    await page.keyboard.press('Enter');
    assert.equal((await download).suggestedFilename(), 'customer.json');
    await press(page, 'Erase …');
    await page.getByText('address, name and note deleted; still valid').waitFor();
    await type(page, 'Reason', 'request of 4 May');
    await page.keyboard.press('Enter');
    await page.getByText('The customer was erased.').waitFor();
    await page.getByText('No license has this address.').waitFor();
    await page.getByText('customer.erase').waitFor();
    await close();
  });
}
