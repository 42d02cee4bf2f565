/** Subscribers and suppressions: search and change, by keyboard alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hashAddress } from '../../../server/src/features/suppressions/address-hash.ts';

import { press, pressButton, waitForFocus } from '../keyboard.ts';
import type { Console } from '../open-console.ts';
import { waitUntilShown } from '../windows.ts';

const FIELDS = { Reason: 'asked by phone' };

export function testAudience(running: () => Console): void {
  test('finds a subscriber, and unsubscribes it with a reason', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/subscribers?search=person-2@example.org');
    await press(page, 'person-2@example.org');
    await page.getByRole('heading', { name: 'person-2@example.org' }).waitFor();
    const done = 'Unsubscribed by an operator';
    await pressButton(page, { label: 'Unsubscribe', fields: FIELDS, done });
    const allowed = 'Mail allowed again';
    await pressButton(page, { label: 'Allow mail again', fields: FIELDS, done: allowed });
    await close();
  });

  test('erases a subscriber for good', async () => {
    const { page, close, go } = await running().open('admin');
    const { service } = running();
    await go('/subscribers?search=person-3@example.org');
    await press(page, 'person-3@example.org');
    await pressButton(page, { label: 'Erase', fields: FIELDS });
    await page.waitForURL('**/console/subscribers');
    const hash = hashAddress(service.context.vault, 'person-3@example.org');
    const { rows } = await service.pool.query(
      `select reason from suppressions where address_hash = decode($1, 'hex')`,
      [hash],
    );
    assert.deepEqual(rows, [{ reason: 'erased' }]);
    await close();
  });

  test('suppresses an address, finds it by the address, and allows it again', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/suppressions');
    await pressButton(page, {
      label: 'Suppress an address',
      confirm: 'Suppress',
      fields: { Address: 'complains@example.com', ...FIELDS },
      done: 'The address is suppressed.',
    });
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('f');
    await waitForFocus(page, 'Complete address, or the start of a hash');
    await page.keyboard.type('COMPLAINS@example.com');
    await page.waitForURL('**search=**');
    await waitUntilShown(page);
    await pressButton(page, { label: 'Allow mail', fields: FIELDS, done: 'Nothing matches' });
    await close();
  });

  test('shows a viewer no button that would be refused', async () => {
    const { page, close, go } = await running().open('viewer');
    await go(
      '/subscribers/{subscriberId}'.replace(
        '{subscriberId}',
        running().world['subscriberId'] ?? '',
      ),
    );
    for (const name of ['Unsubscribe', 'Erase', 'Export CSV']) {
      assert.equal(await page.getByRole('button', { name }).count(), 0, name);
    }
    await close();
  });
}
