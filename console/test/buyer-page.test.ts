/** The page for buyers in Chromium: without script as buyers use it, and examined by axe. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';

import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { encodeQR } from 'qr';

import { launchChromium, lacksChromium } from '../../scripts/lib/chromium.ts';
import { createRequest } from '../../server/test/airgap-steps.ts';
import { readParts } from '../../server/test/mail-relay.ts';
import { runDueJobs } from '../../server/test/run-due-jobs.ts';
import { BUYER_EMAIL, openBuyerWorld, type BuyerWorld } from './buyer-world.ts';
import { readBarcode } from './read-barcode.ts';

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

describe('the page for buyers', { skip: lacksChromium }, () => {
  const resources = new AsyncDisposableStack();
  let world: BuyerWorld;
  let browser: Browser;

  before(async () => {
    world = await openBuyerWorld(resources);
    browser = await launchChromium();
    resources.defer(() => browser.close());
  });
  after(() => resources.disposeAsync());

  async function openPage(isScripted: boolean, locale = 'en'): Promise<Page> {
    const context = await browser.newContext({ javaScriptEnabled: isScripted, locale });
    resources.defer(() => context.close());
    if (isScripted) await context.addInitScript(axeSource);
    const page = await context.newPage();
    await page.goto(`${world.service.url}/my`);
    return page;
  }

  async function signInByEmail(page: Page): Promise<void> {
    const { relay, service } = world;
    await page.locator('#email').fill(BUYER_EMAIL);
    await page.locator('form[action="/my/email"] button').click();
    await page.locator('#code').waitFor();
    await runDueJobs(service.context);
    await page.locator('#code').fill(readLastCode(relay.mails));
    await page.locator('form[action="/my/code"] button').click();
    await page.locator('form[action="/my/keys"]').waitFor();
  }

  async function signInByKey(page: Page): Promise<void> {
    await page.locator('#key').fill(world.yearly.licenseKey);
    await page.locator('form[action="/my/key"] button').click();
    await page.locator('#machines').waitFor();
  }

  test('works without script, by keyboard', async () => {
    const page = await openPage(false);
    await page.locator('#key').focus();
    await page.keyboard.type(world.large.licenseKey);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Sellers' }).waitFor();
    const machine = 'sellers-271-4c4c4544-0044';
    const pages = page.getByRole('navigation', { name: 'Pages of computers' });
    await pages.getByRole('link', { name: 'Seen longest ago' }).press('Enter');
    await pages.getByText('Page 6 of 6').waitFor();
    await page.getByRole('link', { name: `Free ${machine}` }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Free this computer?' }).waitFor();
    await page.getByRole('button', { name: 'Free this computer' }).press('Enter');
    const notice = page.getByRole('status');
    await notice.waitFor();
    assert.match(await notice.innerText(), new RegExp(`^Computer ${machine} is removed`, 'u'));
    await page.getByRole('button', { name: 'Sign out' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Your licenses' }).waitFor();
  });

  test('saves the answer to a request as a file', async () => {
    const page = await openPage(false);
    await signInByKey(page);
    await page.getByRole('link', { name: 'Activate a computer without a connection' }).click();
    const buffer = Buffer.from(
      createRequest({ machine: { machine_id: 'yearly-000-4c4c4544-0044' } }),
    );
    await page
      .locator('#file')
      .setInputFiles({ name: 'request.txt', mimeType: 'text/plain', buffer });
    await page.getByRole('button', { name: 'Create the answer' }).click();
    const answer = await page.locator('#answer').inputValue();
    assert.match(answer, /^eyJ[\w-]+\.[\w-]+\.[\w-]{86}$/u);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Save as a file' }).click();
    const download = await downloading;
    assert.equal(download.suggestedFilename(), 'latchkey-answer.txt');
    assert.equal(readFileSync((await download.path()) ?? '', 'utf8'), answer);
  });

  test('a telephone opens the code of a request, and a camera reads that of the answer', async () => {
    const request = createRequest({ machine: { machine_id: 'yearly-001-4c4c4544-0044' } });
    const address = `${world.service.url}/my/offline?request=${request}`;
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({
        javaScriptEnabled: false,
        viewport: NARROW,
        deviceScaleFactor: 2,
        colorScheme,
      });
      resources.defer(() => context.close());
      const page = await context.newPage();
      const drawn = encodeQR(address, 'svg', { ecc: 'low', border: 4 });
      await page.setContent(`<body style="background: #fff">${drawn}</body>`);
      await page.goto(await readBarcode(await page.locator('svg').screenshot()));
      assert.match(await page.getByRole('status').innerText(), /^Your request is here/u);
      await page.locator('#key').fill(world.yearly.licenseKey);
      await page.locator('form[action="/my/key"] button').click();
      await page.getByRole('button', { name: 'Create the answer' }).click();
      const answer = await page.locator('#answer').inputValue();
      assert.equal(await readBarcode(await page.locator('svg.qr').screenshot()), answer);
    }
  });

  test('is accessible, narrow and wide, in light and dark, in each language', async () => {
    const findings: string[] = [];
    for (const locale of ['en', 'fr', 'de']) {
      const page = await openPage(true, locale);
      findings.push(...(await examine(page, 'doors')));
      await page.locator('#key').fill('wrong');
      await page.locator('form[action="/my/key"] button').click();
      findings.push(...(await examine(page, 'wrong key')));
      await page.locator('#email').fill('nobody@example.com');
      await page.locator('form[action="/my/email"] button').click();
      findings.push(...(await examine(page, 'code')));
      await page.locator('#code').fill('ABCDEF');
      await page.locator('form[action="/my/code"] button').click();
      findings.push(...(await examine(page, 'wrong code')));
      await page.goto(`${world.service.url}/my`);
      await signInByKey(page);
      const license = `${world.service.url}/my/licenses/${world.yearly.id}`;
      for (const path of ['', `/machines/${world.yearly.activationId}`, '/offline']) {
        await page.goto(license + path);
        findings.push(...(await examine(page, path)));
      }
      await page.locator('#request').fill('LKR1.x');
      await page.locator('form[enctype] button').click();
      findings.push(...(await examine(page, 'damaged request')));
      const machine = { machine_id: 'yearly-000-4c4c4544-0044' };
      await page.locator('#request').fill(createRequest({ machine }));
      await page.locator('form[enctype] button').click();
      findings.push(...(await examine(page, 'answer')));
    }
    assert.deepEqual(findings, []);
  });

  test('is quick and clear for ten licenses and 300 machines', async () => {
    const page = await openPage(true);
    await signInByEmail(page);
    assert.deepEqual(await examine(page, 'list'), []);
    const names = await page.getByRole('heading', { level: 2 }).allInnerTexts();
    assert.equal(names.length, 10);
    await page.goto(`${world.service.url}/my/licenses/${world.large.id}`);
    assert.deepEqual(await examine(page, 'license'), []);
    assert.equal(await page.getByRole('heading', { level: 3 }).count(), 50);
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');
    assert.ok(height < 50 * 220, `a telephone shows 50 machines on ${height} px`);
    await page.locator('summary').click();
    await page.getByText('Removed on').first().waitFor();
    assert.deepEqual(await examine(page, 'removed machines'), []);
    await page.goto(`${world.service.url}/my/licenses/${world.large.id}?keys=sent`);
    assert.deepEqual(await examine(page, 'keys sent'), []);
    for (const path of ['/my', `/my/licenses/${world.large.id}`]) {
      const timing = await measure(page, world.service.url + path);
      assert.ok(timing.bytes < 60_000, `${path}: ${timing.bytes} bytes`);
      const { statements } = timing;
      assert.ok(statements > 0 && statements <= 8, `${path}: ${statements} statements`);
    }
  });

  /** Loads a page; returns its size and the number of statements that it needs. */
  async function measure(page: Page, url: string) {
    const { pool } = world.service;
    let statements = 0;
    const count = () => (statements += 1);
    pool.on('acquire', count);
    const response = await page.goto(url);
    pool.off('acquire', count);
    return { bytes: (await response?.body())?.length ?? 0, statements };
  }
});

/** Reads the code of the last e-mail that has one: others, of freed machines, are sent at the same time. */
function readLastCode(mails: BuyerWorld['relay']['mails']): string {
  const pattern = /^ {4}(?<code>[0-9A-Z]{3} [0-9A-Z]{3})\s*$/mu;
  const codes = mails.map((mail) => pattern.exec(readParts(mail))?.groups?.['code']);
  return codes.findLast((code) => code !== undefined) ?? '';
}

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 320, height: 700 };

/** Returns the problems of a page. */
async function examine(page: Page, name: string): Promise<string[]> {
  const findings: string[] = [];
  for (const size of [WIDE, NARROW]) {
    await page.setViewportSize(size);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      findings.push(...(await findViolations(page)).map((each) => `${colorScheme}: ${each}`));
    }
    const used = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (used > size.width) findings.push(`${size.width} px: needs ${used} px`);
  }
  findings.push(...(await findHeadingProblems(page)));
  return findings.map((each) => `${name}: ${each}`);
}

async function findViolations(page: Page): Promise<string[]> {
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run({ resultTypes: ['violations'], preload: false })`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}: ${html} ${failureSummary}`),
  );
}

/** One heading of the first level, and no level that is skipped. */
async function findHeadingProblems(page: Page): Promise<string[]> {
  const levels = await page.evaluate<number[]>(
    `Array.from(document.querySelectorAll('h1, h2, h3, h4'), (each) => Number(each.tagName[1]))`,
  );
  const skipped = levels.some((level, index) => level > (levels[index - 1] ?? 0) + 1);
  const first = levels.filter((level) => level === 1).length;
  return skipped || first !== 1 ? [`headings: ${levels.join(' ')}`] : [];
}
