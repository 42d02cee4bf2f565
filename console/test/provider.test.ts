/** Signing in and proving freshness at an identity provider, a process of its own, in a window of its own. */
import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';

import type { Page } from 'playwright-core';

import { openTestService, type TestService } from '../../server/test/harness.ts';
import { CLIENT_SECRET, startIdentityProvider } from '../../server/test/identity-provider.ts';
import { createTestOperator } from '../../server/test/operator-steps.ts';
import { listenOnFreePort } from '../../server/test/ports.ts';
import { lacksChromium, launchChromium } from '../../scripts/lib/chromium.ts';
import { createRunningClock } from './open-console.ts';
import { Windows } from './windows.ts';

const verified = { email_verified: true };
const PEOPLE = {
  anna: { ...verified, email: 'anna@example.com', name: 'Anna', groups: ['admins'] },
  ben: { ...verified, email: 'ben@example.com', name: 'Ben', groups: ['admins'] },
};

/** Forwards a port to the service, because the provider must know the address of the service before it starts. */
async function openForwarder(target: () => number, resources: AsyncDisposableStack) {
  const server = createServer((socket) => {
    const other = connect(target(), '127.0.0.1');
    socket.on('error', () => other.destroy()).pipe(other);
    other.on('error', () => socket.destroy()).pipe(socket);
  });
  resources.defer(() => void server.close());
  return listenOnFreePort(server);
}

interface Opened {
  readonly service: TestService;
  readonly windows: Windows;
  readonly issuer: string;
}

async function open(resources: AsyncDisposableStack): Promise<Opened> {
  let servicePort = 0;
  const port = await openForwarder(() => servicePort, resources);
  const url = `http://127.0.0.1:${port}`;
  const callback = `${url}/api/v1/admin/session/provider/callback`;
  const issuer = await startIdentityProvider(PEOPLE, callback, resources);
  const settings = {
    LATCHKEY_PUBLIC_URL: url,
    LATCHKEY_OIDC_ISSUER: issuer,
    LATCHKEY_OIDC_CLIENT_ID: 'latchkey',
    LATCHKEY_OIDC_ROLES: 'admin=admins',
    LATCHKEY_OIDC_NAME: 'Example login',
    LATCHKEY_PASSWORDS: 'off',
  };
  const clock = createRunningClock();
  const options = { settings, clock, oidcClientSecret: CLIENT_SECRET };
  const service = await openTestService(options, resources);
  servicePort = Number(new URL(service.url).port);
  const browser = await launchChromium();
  resources.defer(() => browser.close());
  // The pages of the provider are another host, on purpose.
  return { service, windows: new Windows(browser, { ...service, url }), issuer };
}

/** Fills in the forms of the provider: who it is and, the first time in a window, that Latchkey may know it. */
async function passProvider(page: Page, login: string, isFirst = false): Promise<void> {
  await page.getByPlaceholder('Enter any login').fill(login);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  if (isFirst) await page.getByRole('button', { name: 'Continue' }).click();
}

/** Presses a button that opens the provider, and returns its window. */
async function openWindow(page: Page, label: string): Promise<Page> {
  const [opened] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('button', { name: label }).click(),
  ]);
  return opened;
}

const EXPIRE_PROOFS = "update operator_sessions set proved_at = proved_at - interval '1 hour'";

describe('signing in with the identity provider', { skip: lacksChromium }, () => {
  const resources = new AsyncDisposableStack();
  let opened: Opened;
  before(async () => {
    const { service, ...rest } = await open(resources);
    // Without an operator, the console shows how to create the first one.
    await service.pool.query(
      `insert into operators (id, email, name, role, created_at)
       values ('0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d', 'first@example.com', 'First', 'admin', now())`,
    );
    opened = { service, ...rest };
  });
  after(() => resources.disposeAsync());

  /** A window with Anna on the page of the API keys. */
  async function openAsAnna() {
    const window = await opened.windows.open(null, { width: 1440, own: true });
    await window.go('/api-keys?search=newsletter');
    const { page } = window;
    // The pages of the provider load a font.
    await window.context.route('https://fonts.googleapis.com/**', (route) => route.fulfill());
    await page.getByRole('button', { name: 'Sign in with Example login' }).click();
    await passProvider(page, 'anna', true);
    await page.waitForURL('**/console/api-keys?search=newsletter');
    return window;
  }

  /** Fills in the form of a new key, and sends it after something happened to the session. */
  async function enterKey(page: Page, name: string, happen: string): Promise<void> {
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill(name);
    await page.getByLabel('metrics:read').check();
    await opened.service.pool.query(happen);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
  }

  const OTHER_HOST = /request to another host: (?:http:\/\/127\.0\.0\.1|https:\/\/fonts\.)/;

  test('returns to the page that was asked for, and proves freshness beside a filled-in form', async () => {
    const { page, close } = await openAsAnna();
    await enterKey(page, 'typed before the proof', EXPIRE_PROOFS);
    const provider = await openWindow(page, 'Confirm with Example login');
    await passProvider(provider, 'anna');
    await page.getByText('The key was created.').waitFor();
    if (!provider.isClosed()) await provider.waitForEvent('close');
    assert.equal(new URL(page.url()).search, '?search=newsletter');
    const { rows } = await opened.service.pool.query('select name from api_keys');
    assert.deepEqual(rows, [{ name: 'typed before the proof' }]);
    await close(OTHER_HOST, /status of 40[13]/);
  });

  test('keeps the form when another person confirms, and goes on after a second try', async () => {
    const { page, close } = await openAsAnna();
    await enterKey(page, 'typed once', EXPIRE_PROOFS);
    const first = await openWindow(page, 'Confirm with Example login');
    await passProvider(first, 'ben', true);
    await first.getByText('did not sign you in as this operator').waitFor();
    await first.close();
    const second = await openWindow(page, 'Confirm with Example login');
    // The provider forgot Anna's consent when Ben signed in.
    await passProvider(second, 'anna', true);
    await page.getByText('The key was created.').waitFor();
    await close(OTHER_HOST, /status of 40[13]/);
  });

  test('signs in again in a window, behind which the form stays', async () => {
    const { page, close } = await openAsAnna();
    await enterKey(page, 'typed in an ended session', 'delete from operator_sessions');
    await page.getByRole('heading', { name: 'Your session ended' }).waitFor();
    // The provider knows Anna, and asks for nothing.
    await openWindow(page, 'Sign in with Example login');
    await page.getByText('The key was created.').waitFor();
    await close(OTHER_HOST, /status of 40[13]/);
  });

  test('offers a link where the browser opens no window', async () => {
    const { page, close } = await openAsAnna();
    await enterKey(page, 'typed without a window', EXPIRE_PROOFS);
    await page.evaluate('globalThis.open = () => null');
    await page.getByRole('button', { name: 'Confirm with Example login' }).click();
    const [provider] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'Open Example login' }).click(),
    ]);
    await passProvider(provider, 'anna');
    await page.getByText('The key was created.').waitFor();
    await close(OTHER_HOST, /status of 40[13]/);
  });
});

describe('signing in as a proxy names the operator', { skip: lacksChromium }, () => {
  const resources = new AsyncDisposableStack();
  after(() => resources.disposeAsync());

  test('proves freshness beside a filled-in form', async () => {
    const settings = {
      LATCHKEY_TRUSTED_HEADER: 'X-Forwarded-Email',
      LATCHKEY_TRUSTED_HEADER_PROXIES: '127.0.0.1',
      LATCHKEY_PASSWORDS: 'off',
    };
    const clock = createRunningClock();
    const service = await openTestService({ settings, clock }, resources);
    const { email } = await createTestOperator(service);
    const browser = await launchChromium();
    resources.defer(() => browser.close());
    const { context, page, go, close } = await new Windows(browser, service).open(null, {
      width: 1440,
      own: true,
    });
    await context.setExtraHTTPHeaders({ 'x-forwarded-email': email });
    await go('/api-keys');
    await page.getByRole('button', { name: 'Sign in as the proxy names you' }).click();
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('typed before the proof');
    await page.getByLabel('metrics:read').check();
    await service.pool.query(EXPIRE_PROOFS);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('button', { name: 'Confirm as the proxy names you' }).click();
    await page.getByText('The key was created.').waitFor();
    const { rows } = await service.pool.query(
      `select action, actor from audit_log where action = 'api_key.create'`,
    );
    assert.deepEqual(rows, [{ action: 'api_key.create', actor: `operator:${email}` }]);
    await close(/status of 40[13]/);
  });
});
