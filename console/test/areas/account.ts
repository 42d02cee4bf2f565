/** The first sign-in by a link, two-step sign-in, recovery codes, password and sessions; by keyboard alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { totpCode, totpStep } from '../../../server/src/features/operators/rules/totp.ts';
import { createTestOperator, TEST_PASSWORD } from '../../../server/test/operator-steps.ts';
import { press, waitForFocus, type } from '../keyboard.ts';
import type { Console } from '../open-console.ts';
import { waitUntilShown, type Window } from '../windows.ts';

/** The key that the page shows beside the QR code. */
async function readKey(page: Page): Promise<string> {
  const text = await page.locator('p.secret code').textContent();
  return (text ?? '').replaceAll(' ', '');
}

/** Opens a link, chooses a name and a password, and turns on two-step sign-in. */
async function welcome(
  { service }: Console,
  { page, go }: Window,
): Promise<{ readonly email: string; readonly key: string; readonly codes: string[] }> {
  const { email, token } = await createTestOperator(service, 'support');
  await go(`/welcome#${token}`);
  await page.getByText(`You are ${email}, with the role support.`).waitFor();
  await type(page, 'Your name', 'Anna Example');
  await type(page, 'New password', TEST_PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Turn on two-step sign-in' }).waitFor();
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
  const key = await readKey(page);
  await type(page, 'Code', totpCode(key, totpStep(service.clock.now())));
  await page.keyboard.press('Enter');
  const list = page.getByRole('list', { name: 'Recovery codes' });
  await list.waitFor();
  const codes = await list.getByRole('listitem').allTextContents();
  await press(page, 'I stored them');
  return { email, key, codes };
}

/** Makes the proof of all sessions too old. */
async function expireProofs({ service }: Console): Promise<void> {
  await service.pool.query(
    "update operator_sessions set proved_at = proved_at - interval '1 hour'",
  );
}

export function testAccount(running: () => Console): void {
  test('a link sets name, password and two-step sign-in, and then works no more', async () => {
    const opened = running();
    const window = await opened.open(null);
    const { page, close, go } = window;
    const { email, key, codes } = await welcome(opened, window);
    assert.equal(codes.length, 10);
    assert.doesNotMatch(page.url(), /#/);
    await go('/account');
    await page.getByRole('heading', { name: 'Anna Example' }).waitFor();
    await page.getByText('You have 10 recovery codes left.').waitFor();
    await press(page, 'Sign out');

    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await type(page, 'E-mail address', email);
    await type(page, 'Password', TEST_PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByLabel('Code').waitFor();
    await waitForFocus(page, 'Code');
    // The step after the one that enabled the codes: each code is accepted once.
    await type(page, 'Code', totpCode(key, totpStep(opened.service.clock.now()) + 1));
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await press(page, 'Sign out');

    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await type(page, 'E-mail address', email);
    await type(page, 'Password', TEST_PASSWORD);
    await page.keyboard.press('Enter');
    await type(page, 'Code', codes[0] ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await go('/account');
    await page.getByText('You have 9 recovery codes left.').waitFor();
    await close(/status of 401/);
  });

  test('a link that was used says how to get another one', async () => {
    const { page, close, go } = await running().open(null);
    await go('/welcome#3q2-7wQ0m1v8Xb4nJ5cZ9rT6yU2kL0pS1dF3gH5jK7A');
    await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
    await page.getByText('latchkey operator reset EMAIL').waitFor();
    await close(/status of 401/);
  });

  test('asks for a fresh proof, then turns two-step sign-in off', async () => {
    const opened = running();
    const window = await opened.open(null);
    const { page, close, go } = window;
    const { codes } = await welcome(opened, window);
    await go('/account');
    await expireProofs(opened);
    await press(page, 'Turn off');
    await page.getByRole('dialog', { name: 'Turn off two-step sign-in' }).waitFor();
    await press(page, 'Turn off');
    await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor();
    await type(page, 'Password', TEST_PASSWORD);
    await type(page, 'Code', codes[1] ?? '');
    await page.keyboard.press('Enter');
    await page.getByText('Two-step sign-in is off.').waitFor();
    await page.getByText('Your password alone is enough to sign in.').waitFor();
    await close(/status of 40[13]/);
  });

  test('replaces recovery codes', async () => {
    const opened = running();
    const window = await opened.open(null);
    const { page, close, go } = window;
    const { codes } = await welcome(opened, window);
    await go('/account');
    await press(page, 'New recovery codes');
    await page.getByRole('dialog', { name: 'New recovery codes' }).waitFor();
    await press(page, 'New recovery codes');
    const list = page.getByRole('list', { name: 'Recovery codes' });
    await list.waitFor();
    const next = await list.getByRole('listitem').allTextContents();
    assert.equal(next.length, 10);
    assert.ok(next.every((code) => !codes.includes(code)));
    await close(/status of 401/);
  });

  test('lists sessions and ends another one', async () => {
    const opened = running();
    const { service } = opened;
    const { page, close, go } = await opened.open(null);
    const { email, token } = await createTestOperator(service);
    await service.post('/api/v1/admin/session/redeem', { token, password: TEST_PASSWORD });
    await go('/account');
    await type(page, 'E-mail address', email);
    await type(page, 'Password', TEST_PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByText('this one').waitFor();
    assert.equal(await page.getByRole('row').count(), 3);
    await press(page, 'End');
    await page.getByRole('dialog', { name: 'End this session' }).waitFor();
    await press(page, 'End');
    await page.getByText('The session ended.').waitFor();
    await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
    await waitUntilShown(page);
    await close(/status of 401/);
  });
}
