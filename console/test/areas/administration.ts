/** Operators, API keys, signing keys and the audit log, and passkeys with Chromium's virtual authenticator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { createTestOperator, TEST_PASSWORD } from '../../../server/test/operator-steps.ts';
import { press, type } from '../keyboard.ts';
import type { Console } from '../open-console.ts';
import { waitUntilShown } from '../windows.ts';

/** Runs with a public URL that allows passkeys: Chromium treats localhost as secure. */
async function withLocalhost(
  { service }: Console,
  work: (origin: string) => Promise<void>,
  { passwords = true } = {},
): Promise<void> {
  const { http, operators } = service.context.config;
  const before = [{ ...http }, { ...operators }];
  const origin = service.url.replace('127.0.0.1', 'localhost');
  Object.assign(http, { publicUrl: origin });
  Object.assign(operators, { passwords });
  try {
    await work(origin);
  } finally {
    Object.assign(http, before[0]);
    Object.assign(operators, before[1]);
  }
}

async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

export function testAdministration(running: () => Console): void {
  test('registers a passkey, signs in with it, proves freshness with it, and removes it', async () => {
    const opened = running();
    const { service } = opened;
    await withLocalhost(opened, async (origin) => {
      const { page, close } = await opened.open(null, { width: 1440, own: true });
      await addAuthenticator(page);
      const { email, token } = await createTestOperator(service, 'viewer');
      await service.post(
        '/api/v1/admin/session/redeem',
        { token, password: TEST_PASSWORD },
        { host: 'localhost' },
      );
      await page.goto(`${origin}/console/account`);
      await type(page, 'E-mail address', email);
      await type(page, 'Password', TEST_PASSWORD);
      await page.keyboard.press('Enter');
      await press(page, 'Add passkey');
      await type(page, 'Name', 'Virtual key');
      await page.keyboard.press('Enter');
      await page.getByText('The passkey was added.').waitFor();
      await page.getByRole('cell', { name: 'Virtual key' }).waitFor();

      await press(page, 'Sign out');
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
      await press(page, 'Sign in with a passkey');
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      await page.goto(`${origin}/console/account`);
      await waitUntilShown(page);

      await service.pool.query(
        "update operator_sessions set proved_at = proved_at - interval '1 hour'",
      );
      await press(page, 'Remove');
      await page.getByRole('dialog', { name: 'Remove “Virtual key”' }).waitFor();
      await press(page, 'Remove');
      await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor();
      await press(page, 'Use a passkey');
      await page.getByText('The passkey was removed.').waitFor();
      await page.getByText('No passkeys yet').waitFor();
      await close(/status of 40[13]/, /another host: http:\/\/localhost:/);
    });
  });

  test('a link leads to a passkey where passwords are switched off', async () => {
    const opened = running();
    const work = async (origin: string): Promise<void> => {
      const { page, context } = await opened.open(null);
      await addAuthenticator(page);
      const { email, token } = await createTestOperator(opened.service, 'viewer');
      await page.goto(`${origin}/console/welcome#${token}`);
      await page.getByText(`You are ${email}`).waitFor();
      await page.getByText('The next time, sign in with a passkey.').waitFor();
      assert.equal(await page.getByLabel('Password').count(), 0);
      await type(page, 'Your name', 'Anna Example');
      await press(page, 'Sign in');
      await page.getByRole('heading', { name: 'Add a passkey' }).waitFor();
      await press(page, 'Continue');
      await page.getByText('The passkey was added.').waitFor();
      await page.goto(`${origin}/console/account`);
      await page.getByRole('heading', { name: 'Passkeys' }).waitFor();
      assert.equal(await page.getByRole('heading', { name: 'Password' }).count(), 0);
      await press(page, 'Sign out');
      await press(page, 'Sign in with a passkey');
      await page.getByRole('heading', { name: 'Anna Example' }).waitFor();
      await context.close();
    };
    await withLocalhost(opened, work, { passwords: false });
  });

  test('adds an operator and shows the link once', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/operators');
    await press(page, 'Add operator');
    await type(page, 'E-mail address', 'new.colleague@example.com');
    await type(page, 'Name', 'New Colleague');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'One-time link' });
    await dialog.waitFor();
    assert.match(
      (await dialog.locator('code').textContent()) ?? '',
      /\/console\/welcome#[\w-]{43}$/,
    );
    await press(page, 'Done');
    await page.getByRole('link', { name: 'new.colleague@example.com' }).click();
    await page.getByRole('heading', { name: 'New Colleague' }).waitFor();
    await press(page, 'Disable');
    await type(page, 'Reason', 'not needed after all');
    await page.keyboard.press('Enter');
    await page.getByText('The operator is disabled.').waitFor();
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    await close();
  });

  test('creates, replaces and revokes an API key', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/api-keys');
    await press(page, 'Create API key');
    // The search of the list behind it is called "Name", too.
    await page.getByRole('dialog', { name: 'Create API key' }).waitFor();
    await type(page, 'Name', 'browser test');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('metrics:read: read metrics').check();
    await page.getByLabel('admin:read: operator interface as viewer').check();
    await press(page, 'Create');
    const created = page.getByRole('dialog', { name: 'API key “browser test”' });
    const shown = await created.locator('.secret code').textContent();
    assert.match(shown ?? '', /^lk_\w{36}$/);
    await press(page, 'I stored it');
    await go('/api-keys?search=browser');
    await press(page, 'Replace');
    await page.getByRole('dialog', { name: 'Replace “browser test”' }).waitFor();
    await press(page, 'Replace');
    await created.waitFor();
    assert.notEqual(await created.locator('.secret code').textContent(), shown);
    await press(page, 'I stored it');
    await go('/api-keys?search=browser&state=active');
    await press(page, 'Revoke');
    await type(page, 'Reason', 'the test ends');
    await page.keyboard.press('Enter');
    await page.getByText('The key is revoked.').waitFor();
    await page.getByText('Nothing matches').waitFor();
    const { rows } = await running().service.pool.query(
      `select distinct scopes from api_keys where name = 'browser test'`,
    );
    assert.deepEqual(rows, [{ scopes: ['metrics:read', 'admin:read'] }]);
    await close(/status of 422/);
  });

  test('verifies the audit log and filters it', async () => {
    const { page, close, go } = await running().open('admin');
    await go('/audit');
    await press(page, 'Verify all entries');
    await page.getByText(/^All [\d,]+ entries are intact\.$/).waitFor();
    await page.getByRole('button', { name: 'Copy head' }).waitFor();
    await go('/audit?action=signing_key');
    await page.getByText('signing_key.rotate').first().waitFor();
    assert.equal(await page.getByText('operator.create').count(), 0);
    await close();
  });
}
