/** The live page in a real browser. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { AgentSnapshot } from '@latchkey/contract';

import { systemClock } from '#agent/clock.ts';
import { readHost } from '#agent/collect/host.ts';
import { openCollectors } from '#agent/collectors.ts';
import { formatBytes, formatPercent } from '#agent/page/browser/format.ts';
import { MountProber } from '#agent/probe/mount-prober.ts';
import { BackgroundReader } from '#agent/read/background-reader.ts';
import { openSampler } from '#agent/sample.ts';
import { openAccessTokens } from '#agent/stream/admission.ts';
import { Hub } from '#agent/stream/hub.ts';
import { readTlsMaterial } from '#agent/tls/tls-files.ts';

import { lacksChromium } from '../../scripts/lib/chromium.ts';
import { Browser } from './browser.ts';
import { lacksOpenssl, CertificateFixture } from './certificates.ts';
import { changingHost } from './changing-machine.ts';
import {
  isPainted,
  isState,
  Machine,
  noteAtEachState,
  openLivePage,
  pointAt,
  readContrast,
  showLivePage,
  showsUsageOf,
  toLuminance,
  typeToken,
  USAGE,
} from './live-page.ts';
import { copyMachine } from './machine.ts';
import { connect, openStream } from './stream-harness.ts';

const TOKEN = 'correct-horse-battery-staple';
/** An expression that returns the ids of the visible panels. */
const LIST_PANELS =
  "[...document.querySelectorAll('section.card')].filter((each) => each.checkVisibility()).map(({ id }) => id)";

function close(each: { readonly close: () => void }): void {
  each.close();
}

describe('the live page', { skip: lacksChromium || lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  const root = fixture.createRoot('root');
  const tls = readTlsMaterial({ ...root.issueServer(), clients: null });
  let browser: Browser;
  before(async () => {
    browser = await Browser.start();
  });
  after(async () => {
    await browser[Symbol.asyncDispose]();
    fixture[Symbol.dispose]();
  });

  test('shows the figures of the stream without errors', async () => {
    await using opened = await openLivePage({ browser, tls, history: 60 });
    const { hub, page } = opened;
    const viewer = await connect(opened.stream.port);
    await page.until(isState('live'));
    hub.tick();
    const [, message = ''] = await viewer.receive(2);
    const { snapshot }: { snapshot: AgentSnapshot } = JSON.parse(message);
    const { cpu: { usage_ratio: usage = 0 } = {}, memory, processes } = snapshot;
    const [busiest] = processes?.top_by_cpu ?? [];
    assert.ok(memory !== undefined && busiest?.cpu_cores !== undefined);
    await page.until("document.querySelector('#tile-cpu')");
    assert.equal(await page.read('h1'), 'atlas');
    assert.equal(await page.read('#tile-cpu .value'), formatPercent(usage));
    assert.equal(await page.read(USAGE), formatPercent(usage));
    assert.equal(await page.read('#memory .used .value'), formatBytes(memory.used_bytes));
    assert.equal(await page.read('#processes tbody th'), busiest.name);
    assert.equal(
      await page.read('#processes tbody td:nth-child(3)'),
      formatPercent(busiest.cpu_cores),
    );
    await page.evaluate("document.querySelector('.choice button:last-child').click()");
    assert.equal(await page.read('#processes tbody th'), processes?.top_by_memory[0]?.name);
    assert.deepEqual(page.problems, []);
  });

  test('charts start with the history and show a restart of the agent as a gap', async () => {
    const machine = new Machine();
    await using shown = await showLivePage({
      browser,
      tls,
      hub: machine.openHub(),
      history: 300,
    });
    const { page, stream } = shown;
    await page.until("document.querySelector('#cpu .u-over')");
    await pointAt(page, 0.5);
    // This is long before the page was opened.
    await page.until(showsUsageOf(machine.tick - 150));
    const stoppedAt = machine.tick;

    await noteAtEachState(page, "getComputedStyle(document.querySelector('#panels')).opacity");
    await stream.server.close();
    await page.until(isState('waiting'));
    assert.match(String(await page.read('#state')), /^Reconnecting\s+in \d+ s$/);
    assert.equal(await page.read('#state-note'), 'The agent stops.');
    machine.tick += 100;
    const next = machine.openHub();
    await using again = await openStream({ tls, hub: next }, stream.port);
    await page.until(isState('live'));
    assert.deepEqual(
      await page.evaluate("[...new Set(noted.join(' ').match(/[a-z]+ [\\d.]+/g))].sort()"),
      ['connecting 0.72', 'live 1', 'waiting 0.72'],
    );
    assert.equal(await page.read('#state-note'), null);
    next.tick();
    await pointAt(page, 0.4);
    await page.until(showsUsageOf(machine.tick - 180));
    const gapAt = 1 - (machine.tick - stoppedAt) / 300;
    await page.until(isPainted('#cpu', gapAt - 0.05));
    assert.equal(await page.evaluate(isPainted('#cpu', gapAt + 0.05)), false);
    assert.equal(again.warnings.length, 0);
  });

  test('requests an access token, reports an unknown one, and stores it for the tab', async () => {
    const isToken = openAccessTokens([TOKEN]);
    const readRules = () => ({ isToken, allowedOrigins: new Set<string>() });
    await using opened = await openLivePage({ browser, tls, readRules });
    const { page } = opened;
    await page.until(isState('token'));
    assert.match(String(await page.read('#token-form')), /asks for an access token/);
    assert.equal(await page.evaluate('document.activeElement.id'), 'token');
    await typeToken(page, 'x'.repeat(30));
    await page.until("document.querySelector('#token-problem').textContent !== ''");
    assert.equal(await page.read('#token-problem'), 'The access token is not known.');
    await typeToken(page, TOKEN);
    await page.until(isState('live'));
    assert.equal(await page.read('#token-form'), null);
    await page.tab.reload();
    await page.until(isState('live'));
    assert.deepEqual(await page.evaluate('[sessionStorage.length, localStorage.length]'), [1, 0]);
  });

  test('explains the rejection when a client certificate is required', async () => {
    const clients = { authorityFile: root.own.certificateFile, revocationFile: null };
    const mutual = readTlsMaterial({ ...root.issueServer(), clients });
    await using opened = await openLivePage({ browser, tls: mutual });
    const { page } = opened;
    await page.until(isState('refused'));
    assert.match(String(await page.read('#state-note')), /certificate/);
    // The layout does not jump during a retry.
    await noteAtEachState(page, "document.querySelector('#state-note').hidden");
    await page.until("noted.join().startsWith('connecting,false,refused,false')");
  });

  test('shows names of the machine as text and never as markup', async () => {
    const evil = '<img src=x onerror="window.evil=1"><b>x</b>';
    const machine = new Machine();
    machine.host = { ...changingHost, hostname: evil, os_name: evil };
    const process = { pid: 1, name: evil };
    machine.change = (snapshot) => ({
      ...snapshot,
      processes: { count: 1, top_by_cpu: [process], top_by_memory: [process] },
      units: { failed: [evil] },
    });
    await using shown = await showLivePage({ browser, tls, hub: machine.openHub() });
    const { page } = shown;
    assert.equal(await page.read('h1'), evil);
    assert.equal(await page.read('#processes tbody th'), evil);
    assert.equal(await page.read('#units .name'), evil);
    assert.equal(await page.evaluate("document.querySelectorAll('img, b').length"), 0);
    const inject = `
      const script = document.createElement('script');
      try { script.textContent = 'window.evil = 1'; document.body.append(script); } catch {}
      window.evil === undefined`;
    assert.equal(await page.evaluate(inject), true);
  });

  test('hides the parts that a machine lacks', async () => {
    using files = copyMachine('bare-vm');
    using opened = new DisposableStack();
    const prober = opened.adopt(new MountProber(systemClock.monotonicMs), close);
    const reader = opened.adopt(new BackgroundReader(systemClock.monotonicMs), close);
    const collectors = openCollectors(files.roots, { prober, reader });
    const log = { warn: () => undefined };
    const sampler = opened.adopt(openSampler(collectors, systemClock, log), close);
    const host = readHost(files.roots);
    const hub = new Hub({ sampler, readHost: () => host, clock: systemClock, intervalSeconds: 1 });
    await using shown = await openLivePage({ browser, tls, hub });
    const { page } = shown;
    await page.until(isState('live'));
    hub.tick();
    await page.until(`${LIST_PANELS}.length > 0`);
    const panels = await page.evaluate(LIST_PANELS);
    assert.ok(Array.isArray(panels) && panels.includes('cpu') && panels.includes('memory'));
    for (const id of ['gpus', 'sensors', 'batteries', 'raspberry-pi', 'units']) {
      assert.ok(!panels.includes(id), id);
    }
    assert.deepEqual(page.problems, []);
  });

  test('shows the clock alone when the uptime is unknown', async () => {
    const machine = new Machine();
    machine.change = (snapshot) => {
      delete snapshot.uptime_seconds;
      return snapshot;
    };
    await using shown = await showLivePage({ browser, tls, hub: machine.openHub() });
    const { page } = shown;
    await page.until("document.querySelector('#time').textContent !== ''");
    const dot = "getComputedStyle(document.querySelector('#time'), '::before').content";
    assert.equal(await page.evaluate(dot), 'none');
  });

  test('fits a screen of 360 pixels with enough contrast in both color schemes', async () => {
    const machine = new Machine();
    machine.host = { ...changingHost, hostname: 'a-rather-long-name-of-a-machine.example.com' };
    const hub = machine.openHub();
    await using shown = await showLivePage({ browser, tls, hub, width: 360, height: 740 });
    const { page } = shown;
    for (const dark of [false, true]) {
      await page.tab.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
      const background = String(
        await page.evaluate('getComputedStyle(document.body).backgroundColor'),
      );
      assert.equal(toLuminance(background) < 0.1, dark);
      for (const selector of [
        'h1',
        '#machine',
        '#state',
        '#notices li',
        '.tile dt',
        '.tile .detail',
        '.note',
        '.legend .label',
        'td',
        'thead th',
        'tbody th',
        '.meters .detail',
        '.meters .value.bad',
        '.choice button:last-child',
        'footer p',
      ]) {
        const ratio = await readContrast(page, selector);
        assert.ok(ratio >= 4.5, `${selector}: ${ratio.toFixed(2)}, dark: ${dark}`);
      }
    }
  });

  test('legends and bars keep their colors with forced colors', async () => {
    await using shown = await showLivePage({ browser, tls });
    const { page } = shown;
    const readColours = async (): Promise<unknown> =>
      page.evaluate(`['#cpu .swatch', '#tile-space .filled', '.piece', '.core .filled']
        .map((each) => getComputedStyle(document.querySelector(each)).backgroundColor)`);
    const usual = await readColours();
    await page.tab.emulateMedia({ forcedColors: 'active' });
    await page.until("matchMedia('(forced-colors: active)').matches");
    assert.deepEqual(await readColours(), usual);
  });

  test('tables fit columns of every width, and a wide screen has four columns', async () => {
    const machine = new Machine();
    machine.change = withManyLost;
    await using shown = await showLivePage({ browser, tls, hub: machine.openHub() });
    const { page } = shown;
    const isWide = 'filter((each) => each.scrollWidth > each.clientWidth)';
    for (const [width, columns] of [
      [360, 1],
      [800, 2],
      [1280, 3],
      [1600, 4],
      [1920, 4],
    ] as const) {
      await page.tab.setViewportSize({ width, height: 900 });
      await page.until(`document.querySelector('#panels').childElementCount === ${columns}`);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
      const wide = await page.evaluate(
        `[...document.querySelectorAll('.table')].${isWide}.map((each) => each.innerText)`,
      );
      assert.deepEqual(wide, [], `${width}`);
    }
  });

  test('draws temperatures below zero, and titles fans without temperatures as fans', async () => {
    const machine = new Machine();
    const frost = { id: 'a', chip: 'outside', temperature_celsius: -8 };
    const fan = { id: 'b', chip: 'it87', speed_rpm: 900 };
    machine.change = (snapshot) => ({
      ...snapshot,
      sensors: { fans: [fan], ...(machine.tick < 100 ? { temperatures: [frost] } : {}) },
    });
    const hub = machine.openHub();
    await using shown = await openLivePage({ browser, tls, hub, height: 4000 });
    const { page } = shown;
    await page.until(isState('live'));
    for (let each = 0; each < 30; each += 1) hub.tick();
    await page.until("document.querySelector('#sensors canvas')");
    await page.until("document.querySelector('#sensors-title').textContent === 'Temperatures'");
    await page.until(isPainted('#sensors', 0.99));
    machine.tick = 100;
    hub.tick();
    await page.until("document.querySelector('#sensors-title').textContent === 'Fans'");
  });

  test('shows the time awake of a GPU that does not report its usage', async () => {
    const machine = new Machine();
    machine.change = (snapshot) => ({
      ...snapshot,
      gpus: [{ vendor: 'intel', index: 0, awake_ratio: 0.357 }],
    });
    await using shown = await showLivePage({ browser, tls, hub: machine.openHub() });
    const { page } = shown;
    await page.until("document.querySelector('#gpus .meters li')");
    assert.equal(await page.read('#gpus .meters .name'), 'Awake');
    assert.equal(await page.read('#gpus .meters .value'), formatPercent(0.357));
    assert.match(String(await page.read('#gpus .meters .detail')), /outside its sleep state/);
  });

  test('keeps its memory constant over hundreds of snapshots', async () => {
    await using shown = await showLivePage({ browser, tls, history: 300, height: 300 });
    const { hub, page, stream } = shown;
    const devTools = await page.tab.context().newCDPSession(page.tab);
    const useAfter = async (ticks: number): Promise<[bytes: number, elements: number]> => {
      for (let each = 0; each < ticks; each += 1) {
        hub.tick();
        // A viewer that does not read would be dropped.
        if (each % 5 === 0) await page.evaluate('1');
      }
      await page.tab.requestGC();
      const { usedSize } = await devTools.send('Runtime.getHeapUsage');
      const elements = await page.evaluate("document.querySelectorAll('*').length");
      return [usedSize, Number(elements)];
    };
    const [bytesBefore, elementsBefore] = await useAfter(80);
    const [bytesAfter, elementsAfter] = await useAfter(220);
    assert.equal(elementsAfter, elementsBefore);
    // The window contains up to 300 points of 40 figures; the snapshots themselves would take 1.8 MB.
    assert.ok(bytesAfter - bytesBefore < 900_000, `${bytesBefore}, then ${bytesAfter}`);
    assert.equal(stream.warnings.length, 0);
  });
});

/** Returns a snapshot with wider figures than usual. */
function withManyLost(snapshot: AgentSnapshot): AgentSnapshot {
  const { network: { interfaces = [], ...network } = {} } = snapshot;
  const many = { receive_drops_total: 3_580_246_881, receive_bytes_per_second: 1_030_000_000 };
  return {
    ...snapshot,
    network: { ...network, interfaces: interfaces.map((each) => ({ ...each, ...many })) },
  };
}
