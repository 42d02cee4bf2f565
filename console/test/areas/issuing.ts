/** Issuing licenses without a purchase, and importing those of another system. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { press, type } from '../keyboard.ts';
import type { Console } from '../open-console.ts';
import { waitUntilShown } from '../windows.ts';

export function testIssuing(running: () => Console): void {
  test('issues a license', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/licenses');
    await press(page, 'Issue a license');
    await page.getByRole('heading', { name: 'Issue a license' }).waitFor();
    await waitUntilShown(page);
    await page.getByLabel('Product').selectOption('yearly');
    await type(page, 'Name', 'Press Person');
    await page.getByRole('button', { name: 'Issue the license' }).click();
    await page.getByText('The license is issued.').waitFor();
    await press(page, 'Open the license');
    await page.getByRole('heading', { name: 'Press Person' }).waitFor();
    await page.getByText('No computer ever used this license.').waitFor();
    await close();
  });

  test('issues several licenses of an invoice, in parts', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/licenses/issue');
    await page.getByLabel('Product').selectOption('yearly');
    await type(page, 'Transaction', 'invoice-4711');
    await type(page, 'Licenses', '101');
    await page.getByRole('button', { name: 'Issue the licenses' }).click();
    await page.getByText('101 of 101 licenses are issued.').waitFor();
    const shown = await page.getByLabel('License keys', { exact: true }).inputValue();
    const keys = shown.trim().split('\n');
    assert.equal(new Set(keys).size, 101);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as a file' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'license-keys.txt');
    const { rows } = await running().service.pool.query(
      `select count(*)::int from license_transactions where transaction_id = 'invoice-4711'`,
    );
    assert.deepEqual(rows, [{ count: 101 }]);
    await close();
  });

  test('shows the keys issued so far, and why a later part failed', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/licenses/issue');
    let parts = 0;
    await page.route('**/licenses/batch', (route) => {
      parts += 1;
      return parts === 1 ? route.continue() : route.abort();
    });
    await type(page, 'Licenses', '101');
    await page.getByRole('button', { name: 'Issue the licenses' }).click();
    await page.getByText('100 of 101 licenses are issued.').waitFor();
    await page.locator('main').getByText('The service does not answer.').waitFor();
    const shown = await page.getByLabel('License keys', { exact: true }).inputValue();
    assert.equal(new Set(shown.trim().split('\n')).size, 100);
    await close(/ERR_FAILED/);
  });

  test('imports JSON lines from a file', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/licenses/import');
    const lines = [
      { license_key: 'OLD-5KX7-QL2M-94VD-RR0Z', product: 'personal', customer_name: 'Json Person' },
      { license_key: 'OLD-6KX7-QL2M-94VD-RR1Z', product: 'unknown' },
    ];
    const buffer = Buffer.from(lines.map((each) => `${JSON.stringify(each)}\n`).join(''));
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'keys.jsonl', mimeType: 'application/jsonl', buffer });
    await press(page, 'Check');
    await page.getByText('1 can be imported, 0 exist already, 1 cannot be imported.').waitFor();
    await press(page, 'Import 1 license');
    await page.getByText('1 were imported').waitFor();
    await go('/licenses?search=json');
    await page.getByRole('link', { name: 'Json Person' }).waitFor();
    await close();
  });

  test('checks and imports licenses', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/licenses/import');
    const key = 'OLD-8QX7-PL2M-93VD-TT0Z';
    await page
      .getByLabel('CSV or JSON lines')
      .fill(`license_key,product,customer_name\n${key},personal,Imported Person\n1234,personal,\n`);
    await press(page, 'Check');
    await page.getByText('1 can be imported, 0 exist already, 1 cannot be imported.').waitFor();
    await page.getByText('The license_key can be guessed').waitFor();
    await press(page, 'Import 1 license');
    await page.getByText('1 were imported, 0 exist already').waitFor();
    await go('/licenses?search=imported');
    await page.getByRole('link', { name: 'Imported Person' }).waitFor();
    await close();
  });
}
