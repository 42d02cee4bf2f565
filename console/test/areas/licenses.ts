/** Licenses: ready filters, the answer why one does not work, and every change; by keyboard where it is a main way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { suspendLicense } from '../../../server/src/features/licenses/change-license.ts';
import { activate } from '../../../server/test/license-steps.ts';
import { press, type } from '../keyboard.ts';
import type { Console } from '../open-console.ts';

/** Issues a license with one active machine. */
async function issue({ service }: Console, customerName: string) {
  const order = { customerName, customerEmail: 'test@example.com' };
  const { license, licenseKey } = await service.issue(order);
  await activate(service, licenseKey, { machine_id: 'test-computer' });
  return { id: license.id, key: licenseKey };
}

/** Opens the dialog of an action, enters the reason, and confirms with Enter. */
async function confirm(page: Page, title: string): Promise<void> {
  await page.getByRole('dialog', { name: title }).waitFor();
  await type(page, 'Reason', 'a test');
  await page.keyboard.press('Enter');
}

export function testLicenses(running: () => Console): void {
  test('ready filters and the search find licenses, and the address holds them', async () => {
    const { page, close, go } = await running().open('viewer');
    await go('/licenses');
    await press(page, 'Limit reached');
    await page.getByRole('link', { name: 'Ann Example' }).waitFor();
    await page.getByRole('link', { name: 'Bob Müller' }).waitFor({ state: 'detached' });
    assert.match(page.url(), /machines=limit_reached/);
    await press(page, 'All');
    await page.getByRole('searchbox').fill('eve@');
    await page.getByRole('link', { name: 'Ann Example' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Eve Martin' }).click();
    await page.getByText('The license was revoked').waitFor();
    await close();
  });

  test('a list goes on from a page without rows, and says that more may match after a short one', async () => {
    const { page, context, go } = await running().open('viewer');
    const cursors: (string | null)[] = [];
    await page.route('**/api/v1/admin/licenses?*', async (route) => {
      const url = new URL(route.request().url());
      cursors.push(url.searchParams.get('cursor'));
      url.searchParams.delete('cursor');
      const answer: unknown = await (await route.fetch({ url: url.href })).json();
      assert.ok(typeof answer === 'object' && answer !== null);
      const searched = cursors.length > 1 ? answer : { items: [] };
      await route.fulfill({ json: { ...searched, next_cursor: `after${cursors.length}` } });
    });
    await go('/licenses?search=eve@');
    await page.getByRole('link', { name: 'Eve Martin' }).waitFor();
    await page.getByText('More may match: the next page goes on.').waitFor();
    assert.deepEqual(cursors, [null, 'after1']);
    assert.match(page.url(), /cursor=after1/);
    await context.close();
  });

  test('a license says why it does not work, and frees a machine by keyboard', async () => {
    const { world, service, open } = running();
    const { page, close, go } = await open('support');
    await go(`/licenses/${world['licenseId']}`);
    await page.getByText('All 2 computers are in use').waitFor();
    await press(page, 'Free');
    await confirm(page, 'Free this machine');
    await page.getByText('The machine is free.').waitFor();
    await page.getByRole('heading', { name: 'Machines: 1 of 2' }).waitFor();
    await page.getByText('Machine freed').first().waitFor();
    const { rows } = await service.pool.query(
      `select reason from audit_log where subject_id = $1 and action = 'license.free_machine' order by sequence desc limit 1`,
      [world['licenseId']],
    );
    assert.deepEqual(rows, [{ reason: 'a test' }]);
    await close();
  });

  test('reveals the key', async () => {
    const opened = running();
    const { id, key } = await issue(opened, 'Reveal Me');
    const { page, close, go } = await opened.open('support');
    await go(`/licenses/${id}`);
    await press(page, 'Reveal license key');
    await page.getByText(key).waitFor();
    await press(page, 'Hide');
    await page.getByText(key).waitFor({ state: 'detached' });
    await close();
  });

  test('extends, changes limit and customer, allows a move, and sends the key', async () => {
    const opened = running();
    const { id } = await issue(opened, 'Change Me');
    const { page, close, go } = await opened.open('admin');
    await go(`/licenses/${id}`);
    await press(page, 'Extend');
    await page.getByLabel('New end').selectOption('until');
    await page.getByLabel('Date').fill('2035-05-01');
    await confirm(page, 'Change the end');
    await page.getByText('The end is changed.').waitFor();
    await page.getByText('May 1, 2035').waitFor();

    await press(page, 'Change limit');
    await page.getByLabel('Machines', { exact: true }).fill('7');
    await confirm(page, 'Change the machine limit');
    await page.getByRole('heading', { name: 'Machines: 1 of 7' }).waitFor();

    await press(page, 'Change customer');
    await page.getByLabel('Name').fill('Renamed Person');
    await confirm(page, 'Change customer or note');
    await page.getByRole('heading', { name: 'Renamed Person' }).waitFor();

    await press(page, 'Allow a move');
    await confirm(page, 'Allow more moves');
    await page.getByText('The move is allowed.').waitFor();

    await press(page, 'Send key again');
    await confirm(page, 'Send the key again');
    await page.getByText(/The e-mail with the key is on its way|No e-mail was sent/).waitFor();
    await close();
  });

  test('suspends, reinstates and revokes', async () => {
    const opened = running();
    const { id } = await issue(opened, 'Stop Me');
    const { page, close, go } = await opened.open('admin');
    await go(`/licenses/${id}`);
    await press(page, 'Suspend');
    await confirm(page, 'Suspend the license');
    await page.getByText('An operator suspended the license today.').waitFor();
    await press(page, 'Reinstate');
    await confirm(page, 'Reinstate the license');
    await page.getByText('The license works on 1 of 2 computers').waitFor();
    await press(page, 'Revoke');
    await confirm(page, 'Revoke the license');
    await page.getByText('The license was revoked today.').waitFor();
    await close();
  });

  test('a change after that of another operator shows the current state, and can be sent again', async () => {
    const opened = running();
    const { id } = await issue(opened, 'Two Operators');
    const { page, close, go } = await opened.open('admin');
    await go(`/licenses/${id}`);
    await press(page, 'Change limit');
    await page.getByLabel('Machines', { exact: true }).fill('9');
    await suspendLicense(opened.service.context, { keyOrId: id, actor: 'other', reason: 'first' });
    await confirm(page, 'Change the machine limit');
    await page.getByText('This was changed after you opened it.').waitFor();
    await page.getByRole('alert').getByText('suspended').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Machines: 1 of 9' }).waitFor();
    await close(/status of 409/);
  });

  test('replaces the key and shows the new one', async () => {
    const opened = running();
    const { id, key } = await issue(opened, 'Leaked Key');
    const { page, close, go } = await opened.open('admin');
    await go(`/licenses/${id}`);
    await press(page, 'New key');
    await confirm(page, 'Replace the key');
    const dialog = page.getByRole('dialog', { name: 'The new key' });
    await dialog.waitFor();
    const next = await dialog.locator('code').textContent();
    assert.match(next ?? '', /^LK-/);
    assert.notEqual(next, key);
    await page.keyboard.press('Escape');
    await page.getByText('Key replaced', { exact: true }).waitFor();
    await close();
  });

  test('a dialog closes once its page has the new version, so that the next change is no conflict', async () => {
    const opened = running();
    const { id } = await issue(opened, 'Twice In A Row');
    const { page, close, go } = await opened.open('admin');
    await go(`/licenses/${id}`);
    const held = Promise.withResolvers<void>();
    await page.route(`**/api/v1/admin/licenses/${id}`, async (route) => {
      await held.promise;
      await route.continue();
    });
    const reading = page.waitForRequest(`**/api/v1/admin/licenses/${id}`);
    const change = async (limit: string) => {
      await press(page, 'Change limit');
      await page.getByLabel('Machines', { exact: true }).fill(limit);
      await confirm(page, 'Change the machine limit');
    };
    await change('7');
    await reading;
    await page.locator('dialog button[aria-busy="true"]').waitFor();
    assert.equal(await page.getByRole('dialog').count(), 1);
    held.resolve();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await change('8');
    await page.getByRole('heading', { name: 'Machines: 1 of 8' }).waitFor();
    await close();
  });

  test('filters licenses by the day before which they end', async () => {
    const opened = running();
    for (const [customerName, year] of [
      ['Ends Early', 2031],
      ['Ends Late', 2033],
    ] as const) {
      await opened.service.issue({ customerName, expiresAt: new Date(Date.UTC(year, 5, 1)) });
    }
    const { page, close, go } = await opened.open('viewer');
    await go('/licenses?search=ends');
    await page.getByRole('link', { name: 'Ends Late' }).waitFor();
    await page.getByLabel('Ends before').fill('2032-01-01');
    await page.getByLabel('Ends before').blur();
    await page.getByRole('link', { name: 'Ends Late' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Ends Early' }).waitFor();
    assert.match(page.url(), /expires_before=2032-01-01/);
    await close();
  });

  test('a viewer sees neither keys nor changes', async () => {
    const { world, open } = running();
    const { page, close, go } = await open('viewer');
    await go(`/licenses/${world['licenseId']}`);
    for (const name of ['Reveal license key', 'Free', 'Extend', 'Revoke']) {
      assert.equal(await page.getByRole('button', { name }).count(), 0, name);
    }
    await close();
  });
}
