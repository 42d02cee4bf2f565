/** The list of servers, and the page that connects to their agents. In most tests, no agent listens: the page shows that. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { Page } from 'playwright-core';

import { readTlsMaterial } from '../../../agent/src/tls/tls-files.ts';
import { CertificateFixture, lacksOpenssl } from '../../../agent/test/certificates.ts';
import { openStream } from '../../../agent/test/stream-harness.ts';
import { addServer } from '../../../server/src/features/fleet/change-servers.ts';
import type { Console } from '../open-console.ts';
import { waitUntilShown } from '../windows.ts';

/** Nothing listens there. */
const FIRST = '127.0.0.1:4197';
const SECOND = '127.0.0.1:4198';

/** The attempts to reach them, which the policy allowed. */
const ATTEMPTS = [
  /request to another host: https:\/\/127\.0\.0\.1:419[78]\//,
  /console: .*ERR_CONNECTION_REFUSED/,
];

/** An expression: the hosts that the document may connect to. */
const HOSTS = `(document.querySelector('meta[http-equiv="content-security-policy"]')?.content ?? '').match(/wss:[^ ]+/g)`;

/** After so long, the page has read the list again. */
const POLLED_MS = 11_000;

/** How often the agent of the test collects. */
const TICK_MS = 100;

const readHosts = (page: Page) => page.evaluate<string[] | null>(HOSTS);

const CHANGE = { actor: 'test', reason: null };

export function testFleet(running: () => Console): void {
  beforeEach(() => running().service.pool.query('delete from fleet_servers'));

  const add = (name: string, address: string) =>
    addServer(running().service.context, { name, address, labels: [] }, CHANGE);

  /** Opens the page with one server, in a window whose time the test moves. */
  const openWithClock = async (path: string) => {
    await add('nas', FIRST);
    const window = await running().open('viewer', { width: 1440, own: true });
    await window.page.clock.install();
    await window.go(path);
    await window.page.locator('.fleet').getByText('nas').first().waitFor();
    return window;
  };

  test('adds a server, and the page connects to it with the policy of a new document', async () => {
    const { page, go, close } = await running().open('admin');
    await go('/fleet');
    await page.getByText('No server is listed yet.').waitFor();
    assert.equal(await readHosts(page), null);
    await page.getByRole('link', { name: 'Add servers' }).click();
    await page.getByRole('button', { name: 'Add server' }).click();
    await page.getByLabel('Address').fill('https://nas');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.locator('.field-error').getByText('without a scheme').waitFor();
    await page.getByLabel('Address').fill(FIRST);
    await page.getByLabel('Labels').fill('storage, home');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('cell', { name: 'storage, home' }).waitFor();
    await page.getByRole('link', { name: 'Fleet', exact: true }).first().click();
    await page.locator('.fleet').getByText(FIRST).first().waitFor();
    assert.deepEqual(await readHosts(page), [`wss://${FIRST}`]);
    await page.locator('.fleet').getByText('cannot be reached since').first().waitFor();
    await page.getByRole('link', { name: 'Licenses' }).click();
    await waitUntilShown(page);
    assert.equal(await readHosts(page), null);
    await close(...ATTEMPTS, /status of 422/);
  });

  test('shows the figures and problems that an agent sends', { skip: lacksOpenssl }, async () => {
    using fixture = new CertificateFixture();
    const tls = readTlsMaterial({ ...fixture.createRoot('root').issueServer(), clients: null });
    const allowedOrigins = new Set([running().service.url]);
    await using agent = await openStream({
      tls,
      readRules: () => ({ isToken: null, allowedOrigins }),
    });
    const ticking = setInterval(() => agent.hub.tick(), TICK_MS);
    try {
      await add('nas', `127.0.0.1:${agent.port}`);
      const { page, context, go, close } = await running().open('viewer', {
        width: 1440,
        own: true,
      });
      const devTools = await context.newCDPSession(page);
      await devTools.send('Security.setIgnoreCertificateErrors', { ignore: true });
      await go('/fleet');
      await page.locator('.fleet').getByText('/nfs does not answer.').waitFor();
      await page.locator('.fleet').getByText('CPU 25').first().waitFor();
      await close();
    } finally {
      clearInterval(ticking);
    }
  });

  test('loads the document again when it was loaded for another page', async () => {
    await add('nas', FIRST);
    const { page, go, close } = await running().open('viewer');
    await go('/licenses');
    await page.evaluate(
      `history.pushState(null, '', '/console/fleet'); dispatchEvent(new PopStateEvent('popstate'));`,
    );
    await page.locator('.fleet').getByText('nas').first().waitFor();
    assert.deepEqual(await readHosts(page), [`wss://${FIRST}`]);
    await close(...ATTEMPTS);
  });

  test('offers to load again when another operator added a server', async () => {
    const { page, close } = await openWithClock('/fleet');
    await page.keyboard.press('Shift');
    await add('web', SECOND);
    await page.clock.fastForward(POLLED_MS);
    await page.getByText(`This page was opened before ${SECOND} was added`).waitFor();
    assert.deepEqual(await readHosts(page), [`wss://${FIRST}`]);
    await page.getByRole('button', { name: 'Load again' }).click();
    await page.locator('.fleet').getByText('web').first().waitFor();
    assert.deepEqual(await readHosts(page), [`wss://${FIRST}`, `wss://${SECOND}`]);
    await page.getByRole('link', { name: 'Show list' }).click();
    await page.getByRole('cell', { name: SECOND }).waitFor();
    await close(...ATTEMPTS);
  });

  test('loads again by itself when nobody uses it', async () => {
    const { page, close } = await openWithClock('/fleet?wall');
    await add('web', SECOND);
    await page.clock.fastForward(POLLED_MS);
    await page.locator('.fleet').getByText('web').first().waitFor();
    assert.deepEqual(await readHosts(page), [`wss://${FIRST}`, `wss://${SECOND}`]);
    await close(...ATTEMPTS);
  });

  test('loads again by itself a minute after its last use', async () => {
    const { page, close } = await openWithClock('/fleet');
    await page.keyboard.press('Shift');
    await add('web', SECOND);
    await page.clock.fastForward(POLLED_MS);
    await page.getByText(`This page was opened before ${SECOND} was added`).waitFor();
    await page.clock.fastForward(40_000);
    assert.deepEqual(await readHosts(page), [`wss://${FIRST}`]);
    await page.clock.fastForward(15_000);
    await page.locator('.fleet').getByText('web').first().waitFor();
    assert.deepEqual(await readHosts(page), [`wss://${FIRST}`, `wss://${SECOND}`]);
    await close(...ATTEMPTS);
  });

  test('imports lines and links, and names the line of an error', async () => {
    const { page, go, close } = await running().open('admin');
    await go('/fleet/servers');
    const importText = async (text: string) => {
      await page.getByLabel('Lines, or a link').fill(text);
      await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    };
    await page.getByRole('button', { name: 'Import' }).click();
    await importText('web-1 web-1.example.com web\n\nnas https://nas\n');
    await page.getByText('Line 3: Enter only host').waitFor();
    await importText('web-1 web-1.example.com web\n\nThe NAS\tnas\tstorage\n');
    await page.getByText('Added 2, changed 0, unchanged 0.').waitFor();
    await page.getByRole('button', { name: 'Link' }).click();
    const link = await page.getByLabel('Link', { exact: true }).inputValue();
    assert.equal(
      link,
      'https://nas:4096/fleet#m=nas;The%20NAS;storage&m=web-1.example.com;web-1;web',
    );
    await page.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'Import' }).click();
    await importText(`${link}&m=db-1.example.com/latchkey`);
    await page.getByText('Added 1, changed 0, unchanged 2.').waitFor();
    await page.getByRole('cell', { name: 'db-1.example.com/latchkey' }).last().waitFor();
    await close(/status of 422/);
  });

  test('changes and removes a server; viewers only read', async () => {
    await add('nas', 'nas');
    const { page, go, close } = await running().open('admin');
    await go('/fleet/servers');
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Name').fill('The NAS');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'The NAS' }).waitFor();
    const viewer = await running().open('viewer');
    await viewer.go('/fleet/servers');
    await viewer.page.getByRole('cell', { name: 'The NAS' }).waitFor();
    await viewer.page.getByText('Administrators change the list.').waitFor();
    for (const name of ['Edit', 'Remove', 'Import', 'Add server']) {
      assert.equal(await viewer.page.getByRole('button', { name }).count(), 0, name);
    }
    await viewer.close();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No server is listed yet.').waitFor();
    await close();
  });
}
