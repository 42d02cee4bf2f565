/** Work of a button: it runs once at a time, and its failure is shown. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import type { Console } from '../open-console.ts';

const REFUSAL = 'The service is repairing the list.';

/** Refuses the requests to some addresses. */
async function refuse(page: Page, addresses: string): Promise<void> {
  const problem = { code: 'refused', detail: REFUSAL, status: 422 };
  await page.route(addresses, (route) => route.fulfill({ status: 422, json: problem }));
}

/** Clicks, and returns the name and the text of the file that the browser stores. */
async function download(page: Page, name: string) {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name, exact: true }).click(),
  ]);
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
}

const message = (page: Page, text: string) => page.locator('.toasts').getByText(text).waitFor();

export function testFailures(running: () => Console): void {
  test('stores an export as a file, and reports a refused one', async () => {
    const { page, close, go } = await running().open('support');
    await go('/licenses?search=eve@');
    const { name, text } = await download(page, 'Export CSV');
    assert.match(name, /^licenses.*\.csv$/);
    assert.match(text, /Eve Martin/);
    assert.doesNotMatch(text, /Ann Example/);
    await refuse(page, '**/licenses/export?*');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    await message(page, REFUSAL);
    await close(/status of 422/);
  });

  test('stores the recipients of a draft as a file, and reports a refused export', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/outreach/new');
    await page.getByLabel('Pasted addresses').check();
    await page.getByLabel('Addresses', { exact: true }).fill('ada@example.com');
    await page.getByRole('button', { name: 'Check who gets it' }).click();
    await page.getByText('They get it: 1').waitFor();
    const { name, text } = await download(page, 'Export CSV');
    assert.match(name, /\.csv$/);
    assert.match(text, /ada@example\.com/);
    await refuse(page, '**/outreach/dry-run/export');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    await message(page, REFUSAL);
    await close(/status of 422/);
  });

  test('imports once where the button is clicked twice, and reports a refused import', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/licenses/import');
    await page
      .getByLabel('CSV or JSON lines')
      .fill('license_key,product\nOLD-7KX2-MM2L-83VD-QQ1Z,personal\n');
    await page.getByRole('button', { name: 'Check' }).click();
    const button = page.getByRole('button', { name: 'Import 1 license' });
    await button.waitFor();
    const held = Promise.withResolvers<void>();
    let count = 0;
    await page.route('**/licenses/import', async (route) => {
      count += 1;
      await held.promise;
      await route.fulfill({ status: 422, json: { code: 'refused', detail: REFUSAL, status: 422 } });
    });
    await button.click();
    await page.locator('button[aria-busy="true"]').waitFor();
    await button.click();
    held.resolve();
    await message(page, REFUSAL);
    assert.equal(count, 1);
    await page.locator('button[aria-busy="true"]').waitFor({ state: 'detached' });
    await close(/status of 422/);
  });

  test('reports a file that cannot be read, and one that is too large', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/licenses/import');
    const file = page.getByLabel('File');
    const choose = (buffer: Buffer) =>
      file.setInputFiles({ name: 'keys.csv', mimeType: 'text/csv', buffer });
    await page.evaluate(`{
      const { arrayBuffer } = File.prototype;
      File.prototype.arrayBuffer = () => {
        File.prototype.arrayBuffer = arrayBuffer;
        return Promise.reject(new DOMException('gone', 'NotReadableError'));
      };
    }`);
    await choose(Buffer.from('license_key'));
    await page.getByRole('alert').getByText('The file could not be read.').waitFor();
    for (const text of ['x'.repeat(1_000_001), '€'.repeat(1_400_000)]) {
      await choose(Buffer.from('license_key'));
      await page.getByRole('alert').waitFor({ state: 'detached' });
      await choose(Buffer.from(text));
      await page.getByRole('alert').getByText('more than a million characters').waitFor();
      assert.equal(await page.getByLabel('CSV').inputValue(), 'license_key');
    }
    // The file is read after the alert has gone.
    const showsText = (text: string) =>
      page.waitForFunction(`document.querySelector('textarea')?.value === ${JSON.stringify(text)}`);
    const longest = 'ä'.repeat(1_000_000);
    await choose(Buffer.from(longest));
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await showsText(longest);
    await choose(Buffer.from('license_key\nA'));
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await showsText('license_key\nA');
    await close();
  });

  test('says that signing out failed', async () => {
    const { page, close, go } = await running().open('viewer');
    await go('/account');
    await refuse(page, '**/session/sign-out');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await message(page, REFUSAL);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await close(/status of 422/);
  });
}
