/** Runs examples/electron-like with the packed package: in a terminal, and in Chromium. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';

import type { Page } from 'playwright-core';

import { lacksChromium, launchChromium } from '../../../../scripts/lib/chromium.ts';
import { repository } from '../../../../scripts/lib/steps.ts';
import { startTestService, TEST_ISSUER } from '../../../../server/test/harness.ts';
import { activate } from '../../../../server/test/license-steps.ts';
import { installPackage, packageEnvironment } from './install-package.ts';

const directory = await mkdtemp(join(tmpdir(), 'latchkey-electron-like-'));
after(() => rm(directory, { recursive: true, force: true }));
const program = join(directory, 'program');
const service = await startTestService({
  clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
});
const { body: published } = await service.get('/.well-known/jwks.json');

before(async () => {
  await installPackage(directory);
  await cp(join(repository, 'examples', 'electron-like'), program, { recursive: true });
});

/** Starts a face of the program. @param folder where the terminal keeps its state */
function start(file: string, folder = 'state', address = service.url): ChildProcess {
  const child = spawn(process.execPath, [join(program, file)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...packageEnvironment,
      LICENSE_SERVICE: address,
      LICENSE_ISSUER: TEST_ISSUER,
      LICENSE_KEYS: JSON.stringify(Object(published).keys),
      LICENSE_FOLDER: join(directory, folder),
    },
  });
  after(() => child.kill());
  return child;
}

/** A terminal whose user waits for what the program prints. */
function openTerminal(child: ChildProcess) {
  assert.ok(child.stdout !== null && child.stdin !== null);
  const { stdin } = child;
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  const type = (line: string): void => void stdin.write(`${line}\n`);
  /** Returns the next line that matches, and forgets those before. */
  const read = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const index = lines.findIndex((line) => pattern.test(line));
      if (index !== -1) return lines.splice(0, index + 1).at(-1) ?? '';
      await once(reader, 'line');
    }
  };
  const quit = async (): Promise<void> => {
    type('quit');
    const [code]: unknown[] = await once(child, 'exit');
    assert.equal(code, 0);
  };
  return { type, read, quit };
}

describe('the terminal', { timeout: 120_000 }, () => {
  test('activates, exports, and keeps the license without the service', async () => {
    const { licenseKey } = await service.issue();
    const { type, read, quit } = openTerminal(start('terminal.mjs'));
    await read(/^No license\. Enter a key, or try the program/);
    type('export');
    await read(/Export needs a license\.$/);
    type(`activate ${licenseKey.slice(0, -1)}${licenseKey.endsWith('0') ? '1' : '0'}`);
    await read(/This key has a typing error\.$/);
    type(`activate ${licenseKey.toLowerCase()}`);
    await read(/^(?:> )?Licensed: personal\. Runs without a network for 14 days\.$/);
    type('export');
    await read(/Exported on the graphics card\.$/);
    await quit();

    const offline = openTerminal(start('terminal.mjs', 'state', 'http://127.0.0.1:1'));
    await offline.read(/^Licensed: personal\./);
    offline.type('check');
    await offline.read(/No answer \(connection\)\. Nothing changed/);
    offline.type('support');
    await offline.read(/^last request: connection/);
    await offline.quit();
  });

  test('moves the license of another computer here, and frees this one', async () => {
    const { licenseKey } = await service.issue({ maxActivations: 1 });
    await activate(service, licenseKey, { machine_id: 'another' });
    const { type, read, quit } = openTerminal(start('terminal.mjs', 'moved'));
    type(`activate ${licenseKey}`);
    await read(/The license is in use on one computer\. Choose one to free\.$/);
    await read(/^1\. /);
    type('free 1');
    await read(/Licensed: personal/);
    type('deactivate');
    await read(/No license\./);
    await quit();
  });
});

async function openPage(address: string): Promise<Page> {
  const browser = await launchChromium();
  after(() => browser.close());
  const page = await browser.newPage();
  page.on('pageerror', (error) => assert.fail(error));
  await page.goto(address);
  return page;
}

test('the page shows the same', { skip: lacksChromium, timeout: 120_000 }, async () => {
  const { licenseKey } = await service.issue({ maxActivations: 1 });
  await activate(service, licenseKey, { machine_id: 'another' });
  const child = start('page.mjs');
  assert.ok(child.stdout !== null);
  const [line]: unknown[] = await once(createInterface({ input: child.stdout }), 'line');
  const page = await openPage(String(line));
  const expect = (text: string) => page.getByText(text, { exact: false }).waitFor();
  await expect('No license');
  await page.getByRole('button', { name: 'Start the trial' }).click();
  await expect('7 days left.');
  await page.getByRole('button', { name: 'Export' }).click();
  await expect('Exported.');
  await page.getByLabel('License key').fill(licenseKey);
  await page.getByRole('button', { name: 'Activate' }).click();
  await expect('The license is in use on one computer.');
  await page.getByRole('button', { name: 'Free it, and use the license here' }).click();
  await expect('Licensed: personal');
  assert.equal(await page.getByLabel('License key').isVisible(), false);
  await page.getByRole('button', { name: 'Computers' }).click();
  await expect('(this computer)');
});
