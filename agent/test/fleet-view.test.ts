/** The view of the fleet page in a real browser, with invented machines. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';

import type { AxeResults } from 'axe-core';
import type { Browser as Chromium } from 'playwright-core';

import { lacksChromium, launchChromium } from '../../scripts/lib/chromium.ts';
import type { Page } from './browser.ts';
import { buildFakeFleetPage, openFakeFleet } from './fleet-view-page.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What was announced to screen readers. */
const ANNOUNCED = "document.querySelector('[role=status].fleet-unseen').textContent";

const PROBLEM_ROW = '.fleet-problems > li';

/** Waits for the next drawn frame. */
const FRAME = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

describe('the view of the fleet page', { skip: lacksChromium }, () => {
  const files = buildFakeFleetPage();
  let chromium: Chromium;
  before(async () => {
    chromium = await launchChromium();
  });
  after(() => chromium.close());

  const open = async (query = 'still', options = {}): Promise<Page> => {
    const page = await openFakeFleet(chromium, files, { query, ...options });
    await page.until("document.querySelector('.fleet')");
    return page;
  };

  test('shows machines with problems first, as sentences, and calm ones in groups', async () => {
    await using page = await open();
    assert.equal(await page.read('h1'), '78 of 100 machines are calm');
    assert.equal(await page.read('.fleet-rest'), '20 need attention, 2 have not answered yet.');
    assert.equal(await page.evaluate('document.title'), '(20) Fleet · Latchkey');
    const [first = '', ...rows] = await readAll(page, '.fleet-problems > li');
    assert.match(first, /batch-039.*The power supply is too weak\.\s*for 10/);
    assert.match(rows.at(-1) ?? '', /batch-011.*Does not accept the token: enter it\./);
    assert.equal(rows.length, 19);
    assert.deepEqual(await readAll(page, '.fleet-group-title'), ['batch', 'cache', 'db', 'web']);
    const lines = await readAll(page, '.fleet-group tbody tr');
    assert.equal(lines.length, 80);
    assert.match(lines.find((line) => line.startsWith('batch-051')) ?? '', /rebooted \d\d:\d\d/);
    assert.deepEqual(page.problems, []);
  });

  test('moves a machine between the lists when its state changes, and keeps the focus', async () => {
    await using page = await open();
    await page.evaluate('document.querySelector(\'a[data-machine="web-002"]\').focus()');
    await page.evaluate(
      "fakePage.fleet.setState('web-002', { kind: 'gap', reason: 'no_answer', since: new Date(2026, 10, 21, 14, 3, 22).getTime() })",
    );
    const row = '.fleet-problems li:has([data-machine="web-002"])';
    await page.until(`document.querySelector('${row}')`);
    assert.match(String(await page.read(row)), /Has not answered since 21 Nov 14:03\./);
    assert.equal(await page.evaluate('document.activeElement.dataset.machine'), 'web-002');
    assert.equal(await page.read('h1'), '77 of 100 machines are calm');
    await page.evaluate("fakePage.fleet.setState('web-002', { kind: 'live' })");
    await page.until(`!document.querySelector('${row}')`);
    assert.equal(await page.read('.fleet-events li'), (await readAll(page, '.fleet-events li'))[0]);
    assert.match(String(await page.read('.fleet-events li')), /web-002 answers again\.$/);
  });

  test('announces changes together, and figures never', async () => {
    await using page = await open('still', { clock: true });
    await page.evaluate(`
      window.announced = [];
      new MutationObserver(() => announced.push(document.querySelector('[role=status].fleet-unseen').textContent))
        .observe(document.querySelector('[role=status].fleet-unseen'), { childList: true, characterData: true, subtree: true });
      for (const id of ['web-002', 'db-001']) fakePage.fleet.setState(id, { kind: 'gap', reason: 'stopped', since: Date.now() });
      for (let at = 0; at < 5; at += 1) fakePage.fleet.tick();`);
    await page.tab.clock.runFor(5000);
    const announced = await page.evaluate('announced');
    assert.ok(Array.isArray(announced) && announced.length === 1);
    assert.match(
      String(announced[0]),
      /^web-002 stopped its agent at [\d:]{8}\. db-001 stopped its agent at [\d:]{8}\.$/,
    );
    const live = await page.evaluate(
      "[...document.querySelectorAll('[aria-live], [role=status], [role=alert]')].every((each) => !each.querySelector('.fleet-latest, td, canvas'))",
    );
    assert.equal(live, true);
  });

  test('announces also what happens shortly after the first of several changes', async () => {
    await using page = await open('still', { clock: true });
    const stop = (id: string): Promise<unknown> =>
      page.evaluate(
        `fakePage.fleet.setState('${id}', { kind: 'gap', reason: 'stopped', since: Date.now() })`,
      );
    await stop('web-002');
    await page.tab.clock.runFor(2000);
    await stop('db-001');
    await page.tab.clock.runFor(3000);
    assert.match(String(await page.evaluate(ANNOUNCED)), /^web-002 stopped .* db-001 stopped /);
  });

  test('keeps the focus in a row that moves, with what was typed', async () => {
    await using page = await open();
    const row = 'li:has(.fleet-token)';
    await page.tab.focus('.fleet-token input');
    await page.tab.keyboard.type('half-a-');
    await page.evaluate("fakePage.fleet.setState('db-017', { kind: 'live' })");
    await page.until(`!document.querySelector('${PROBLEM_ROW}:has([data-machine="db-017"])')`);
    await page.evaluate(
      "fakePage.fleet.setNotices('batch-011', [{ code: 'disk_failing', severity: 'error', subject: 'sda', since: '2026-11-01T00:00:00Z' }])",
    );
    await page.until(
      `document.querySelector('${PROBLEM_ROW}') === document.querySelector('${row}')`,
    );
    await page.tab.keyboard.type('token-of-a-machine');
    await page.tab.keyboard.press('Enter');
    assert.deepEqual(await page.evaluate('[...fakePage.fleet.tokens]'), [
      ['batch-011', 'half-a-token-of-a-machine'],
    ]);
  });

  test('searches, chooses the quantity, and keeps choices and folds', async () => {
    await using page = await open();
    await page.tab.keyboard.press('/');
    await page.tab.keyboard.type('oslo /var');
    // The search is applied while it is typed.
    await page.until(
      "document.querySelector('.fleet-empty')?.textContent === 'No machine matches “oslo /var”.Add machines'",
    );
    assert.equal(
      await page.evaluate("document.querySelectorAll('.fleet-problems > li').length"),
      0,
    );
    await page.tab.keyboard.press('Escape');
    await page.until("document.querySelectorAll('.fleet-problems > li').length === 20");
    await page.tab.keyboard.press('Escape');
    await page.tab.keyboard.press('4');
    await page.until(
      "document.querySelector('h2#fleet-figure-title').textContent === 'Network traffic'",
    );
    await page.tab.click('.fleet-group:nth-child(2) .fleet-fold');
    await page.tab.selectOption('.fleet-select', 'name');
    await page.tab.reload();
    await page.until("document.querySelector('.fleet-groups .fleet-group:nth-child(4)')");
    assert.equal(await page.read('#fleet-figure-title'), 'Network traffic');
    assert.equal(await page.evaluate("document.querySelector('.fleet-select').value"), 'name');
    const folded = "[...document.querySelectorAll('.fleet-fold')].map((each) => each.ariaExpanded)";
    assert.deepEqual(await page.evaluate(folded), ['true', 'false', 'true', 'true']);
  });

  test('moves through machines by keys, and opens the wall and the help', async () => {
    await using page = await open();
    const focused = 'document.activeElement.dataset.machine';
    for (const key of ['j', 'j', 'k']) await page.tab.keyboard.press(key);
    assert.equal(await page.evaluate(focused), 'batch-039');
    assert.deepEqual(
      await page.evaluate('[document.activeElement.href, document.activeElement.target]'),
      ['https://batch-039.lisbon.example.com:4096/', '_blank'],
    );
    await page.tab.keyboard.press('w');
    assert.equal(await page.evaluate('location.search'), '?still=&wall=');
    assert.equal(await page.read('.fleet-search'), null);
    assert.equal(
      await page.read('.fleet-problems .fleet-sentence'),
      'The power supply is too weak.',
    );
    await page.tab.reload();
    await page.until("document.querySelector('.fleet[data-wall=true]')");
    await page.tab.keyboard.press('Escape');
    assert.equal(await page.evaluate('location.search'), '?still=');
    await page.tab.keyboard.press('?');
    await page.until("document.querySelector('dialog[open] kbd')");
    await page.tab.keyboard.press('Escape');
    await page.until("!document.querySelector('dialog[open]')");
  });

  test('shows whole rows on a wall, and the number of those without room', async () => {
    await using page = await open('still&wall', { width: 1920, height: 1080 });
    const shown = `(() => {
      const list = document.querySelector('.fleet-problems').getBoundingClientRect();
      return [...document.querySelectorAll('${PROBLEM_ROW}')].map((row) => row.getBoundingClientRect())
        .filter(({ left, bottom }) => left < list.right && bottom <= Math.min(list.bottom, innerHeight)).length;
    })()`;
    const note = "document.querySelector('.fleet-overflow').textContent";
    await page.until(`${note} !== '' && ${note} === 'and ' + (20 - ${shown}) + ' more'`);
    const count = Number(await page.evaluate(shown));
    assert.ok(count >= 4 && count < 20, `${count} rows`);
    await page.tab.keyboard.press('Escape');
    await page.until(`${note} === ''`);
    assert.equal(await page.read('.fleet-overflow'), null);
    await using few = await open('still&wall&machines=13', { width: 1920, height: 1080 });
    await few.evaluate(FRAME);
    assert.deepEqual(await few.evaluate(`[${shown}, ${note}]`), [3, '']);
  });

  test('shows the values of all machines at the time of the cursor, by pointer and by keys', async () => {
    await using page = await open();
    await page.tab.focus('.fleet-canvas');
    for (let at = 0; at < 2; at += 1) await page.tab.keyboard.press('Shift+ArrowLeft');
    const slider = "document.querySelector('.fleet-canvas')";
    assert.equal(await page.evaluate(`${slider}.ariaValueNow`), '-20');
    assert.match(
      String(await page.evaluate(`${slider}.ariaValueText`)),
      /^\d\d:\d\d:\d\d, highest: \w+-\d+ \d+\s%, \w+-\d+ \d+\s%, \w+-\d+ \d+\s%$/,
    );
    await page.evaluate("document.querySelector('.fleet-values').open = true");
    await page.until("document.querySelectorAll('.fleet-values tbody tr').length === 100");
    const time = String(await page.read('.fleet-readout'));
    assert.equal(await page.read('.fleet-values caption'), `At ${time}`);
    await page.tab.keyboard.press('Escape');
    await page.until("document.querySelector('.fleet-readout').textContent === ''");
    const canvas = page.tab.locator('.fleet-canvas');
    await canvas.hover({ position: { x: 60, y: 50 } });
    await page.until(
      "/^[\\d:]{8} · batch-003 /.test(document.querySelector('.fleet-readout').textContent)",
    );
  });

  test('takes a token, tries again, and edits the list', async () => {
    await using page = await open();
    await page.tab.fill('.fleet-token input', 'short');
    await page.tab.keyboard.press('Enter');
    assert.match(String(await page.read('.fleet-token')), /20 to 200/);
    await page.tab.fill('.fleet-token input', 'correct-horse-battery');
    await page.tab.keyboard.press('Enter');
    assert.deepEqual(await page.evaluate('[fakePage.savedTokens, [...fakePage.fleet.tokens]]'), [
      [['batch-011.oslo.example.com:4096', 'correct-horse-battery']],
      [['batch-011', 'correct-horse-battery']],
    ]);
    await page.tab.click('li:has([data-machine="db-017"]) >> text=Try again');
    assert.deepEqual(await page.evaluate('fakePage.fleet.retried'), ['db-017']);
    await page.tab.click('text=Edit list');
    await page.tab.fill('dialog[open] textarea', 'web-1\nnot an address');
    await page.tab.click('text=Watch these machines');
    assert.match(String(await page.read('dialog[open] .fleet-fault')), /^Line 2:/);
    await page.tab.fill('dialog[open] textarea', 'web-1, One');
    await page.tab.click('text=Watch these machines');
    await page.until("document.querySelectorAll('a.fleet-machine').length === 1");
    assert.deepEqual(
      await page.evaluate('fakePage.saved.map(([{ name, address }]) => [name, address])'),
      [['One', 'web-1:4096']],
    );
  });

  test('shows what to do without machines, and leaves nothing behind when it is removed', async () => {
    await using page = await open('still&machines=0&console');
    assert.equal(await page.read('h1'), 'No machines yet');
    assert.match(String(await page.read('.fleet-empty')), /origins add https:\/\/fleet\.test/);
    assert.equal(
      await page.evaluate("document.querySelector('.fleet-empty a').getAttribute('href')"),
      '/machines',
    );
    await page.tab.keyboard.press('w');
    await page.evaluate('fakePage.unmount()');
    assert.deepEqual(
      await page.evaluate("[document.title, document.querySelectorAll('main *').length]"),
      ['Fleet', 0],
    );
    await page.tab.keyboard.press('?');
    assert.deepEqual(page.problems, []);
  });

  test('pauses while it is hidden, and reports that afterwards', async () => {
    await using page = await openFakeFleet(chromium, files, { query: 'still', clock: true });
    const setHidden = (isHidden: boolean): Promise<unknown> =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    await setHidden(true);
    await page.tab.clock.runFor(9000);
    assert.equal(await page.evaluate('fakePage.fleet.isPaused'), false);
    await page.tab.clock.runFor(2000);
    assert.equal(await page.evaluate('fakePage.fleet.isPaused'), true);
    await setHidden(false);
    assert.equal(await page.evaluate('fakePage.fleet.isPaused'), false);
    assert.match(
      String(await page.read('.fleet-note')),
      /^This page was hidden and watched nothing from [\d:]{8} to [\d:]{8}\.$/,
    );
    await page.tab.clock.runFor(61_000);
    assert.equal(await page.read('.fleet-note'), null);
  });

  test('is accessible in both color schemes, wide, narrow and as a wall', async () => {
    await using page = await open('still&machines=54');
    await page.evaluate(readFileSync(AXE, 'utf8'));
    for (const [width, height, isWall] of [
      [1440, 900, false],
      [360, 780, false],
      [1920, 1080, true],
    ] as const) {
      await page.tab.setViewportSize({ width, height });
      if (isWall) await page.tab.keyboard.press('w');
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.tab.emulateMedia({ colorScheme });
        // In dark, only colors differ.
        const rules = colorScheme === 'dark' ? "{ runOnly: ['color-contrast'] }" : '{}';
        const { violations } = await page.tab.evaluate<AxeResults>(`axe.run(document, ${rules})`);
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
        assert.deepEqual(found, [], `${width}, ${colorScheme}`);
      }
    }
  });

  test('draws 100 machines each second with a tenth of a core, and keeps its memory', async () => {
    await using page = await open();
    const devTools = await page.tab.context().newCDPSession(page.tab);
    await devTools.send('Performance.enable');
    const measure = async (): Promise<Map<string, number>> => {
      const { metrics } = await devTools.send('Performance.getMetrics');
      return new Map(metrics.map(({ name, value }) => [name, value]));
    };
    const tick = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1) {
        await page.evaluate(`fakePage.fleet.tick(); ${FRAME}`);
      }
    };
    await tick(10);
    await page.tab.requestGC();
    const first = await measure();
    const ticks = 20;
    await tick(ticks);
    await page.tab.requestGC();
    const last = await measure();
    const read = (name: string): number => (last.get(name) ?? NaN) - (first.get(name) ?? NaN);
    const seconds = read('ProcessTime') / ticks;
    assert.ok(seconds > 0 && seconds < 0.1, `${seconds} s for each second`);
    assert.ok((last.get('JSHeapUsedSize') ?? NaN) < 20_000_000);
    assert.ok(read('JSHeapUsedSize') < 1_000_000, `${read('JSHeapUsedSize')} bytes more`);
    assert.equal(read('Nodes'), 0);
  });
});

async function readAll(page: Page, selector: string): Promise<string[]> {
  const texts = await page.evaluate(
    `[...document.querySelectorAll('${selector}')].map((each) => each.textContent)`,
  );
  assert.ok(Array.isArray(texts));
  return texts.map(String);
}
