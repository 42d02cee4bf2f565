/** The live page of a fictitious machine in a browser, and what a person sees on it. */
import assert from 'node:assert/strict';

import type { AgentHost, AgentSnapshot } from '@latchkey/contract';

import { formatPercent } from '#agent/page/browser/format.ts';
import { Hub } from '#agent/stream/hub.ts';
import type { TlsMaterial } from '#agent/tls/tls-files.ts';

import type { Browser, Page, PageOptions } from './browser.ts';
import { changingHost, changingSnapshot } from './changing-machine.ts';
import { openStream, type Stream, type StreamOptions } from './stream-harness.ts';

const START_MS = Date.parse('2026-11-21T14:00:00Z');

/** A fictitious machine, a second older at each tick. */
export class Machine {
  tick = 0;
  host: AgentHost = changingHost;
  change: (snapshot: AgentSnapshot) => AgentSnapshot = (snapshot) => snapshot;

  readonly now = (): Date => new Date(START_MS + this.tick * 1000);

  openHub(): Hub {
    const sample = (): AgentSnapshot => {
      this.tick += 1;
      return this.change(changingSnapshot(this.tick, this.now()));
    };
    const clock = { now: this.now, monotonicMs: () => this.tick * 1000 };
    const sampler = { sample, wake: () => undefined };
    return new Hub({ readHost: () => this.host, sampler, clock, intervalSeconds: 1 });
  }
}

/** A page of a stream in a browser. */
export interface LivePage extends AsyncDisposable {
  readonly hub: Hub;
  readonly stream: Stream;
  readonly page: Page;
}

type Options = PageOptions &
  Partial<StreamOptions> & {
    readonly browser: Browser;
    readonly tls: TlsMaterial;
    readonly hub?: Hub;
    /** The ticks before the page is opened. */
    readonly history?: number;
  };

/** Opens the page of a stream. */
export async function openLivePage({
  browser,
  history = 0,
  hub = new Machine().openHub(),
  ...options
}: Options): Promise<LivePage> {
  await using stack = new AsyncDisposableStack();
  const stream = stack.use(await openStream({ ...options, hub }));
  for (let each = 0; each < history; each += 1) hub.tick();
  const page = stack.use(await browser.open(`https://127.0.0.1:${stream.port}/`, options));
  const opened = stack.move();
  return { hub, stream, page, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Opens the page of a stream, and waits until it shows a tick. */
export async function showLivePage(options: Options): Promise<LivePage> {
  const opened = await openLivePage(options);
  await opened.page.until(isState('live'));
  opened.hub.tick();
  await opened.page.until("document.querySelector('#tile-cpu')");
  return opened;
}

export const isState = (name: string): string => `document.body.dataset.state === '${name}'`;

/** Moves the pointer into the chart of the processor, at a ratio of its width. */
export async function pointAt(page: Page, share: number): Promise<void> {
  const box = await page.evaluate(
    "(({ x, y, width, height }) => [x, y, width, height])(document.querySelector('#cpu .u-over').getBoundingClientRect())",
  );
  assert.ok(Array.isArray(box));
  const [x, y, width, height] = box.map(Number);
  await page.tab.mouse.move((x ?? 0) + (width ?? 0) * share, (y ?? 0) + (height ?? 0) / 2);
}

export const USAGE = '#cpu .legend li:first-child .value';
/** Returns an expression for the shown usage. A pointer is on a whole pixel, so that the tick before or after may be shown. */
export function showsUsageOf(tick: number): string {
  const texts = [tick - 1, tick, tick + 1].map((each) =>
    formatPercent(changingSnapshot(each, new Date(0)).cpu?.usage_ratio ?? 0),
  );
  return `${JSON.stringify(texts)}.includes(document.querySelector('${USAGE}').textContent)`;
}

/** Submits an access token. */
export async function typeToken(page: Page, token: string): Promise<void> {
  await page.evaluate(`document.querySelector('#token').value = '${token}'`);
  await page.evaluate("document.querySelector('#token-form').requestSubmit()");
}

/** Records each later state with the value of an expression in `noted`. */
export async function noteAtEachState(page: Page, expression: string): Promise<void> {
  await page.evaluate(`
    window.noted = [];
    new MutationObserver(() => noted.push(document.body.dataset.state, ${expression}))
      .observe(document.body, { attributeFilter: ['data-state'] });
    0`);
}

/** Returns an expression: whether the first chart of a panel has its first line at a ratio of its width. */
export function isPainted(panel: string, share: number): string {
  return `(() => {
    const canvas = document.querySelector('${panel} canvas');
    const over = document.querySelector('${panel} .u-over');
    const left = parseFloat(over.style.left) + over.clientWidth * ${share};
    const context = canvas.getContext('2d');
    const { data } = context.getImageData(Math.round(left), 0, 1, canvas.height);
    const [red, green, blue] = getComputedStyle(document.querySelector('${panel} .swatch'))
      .backgroundColor.match(/\\d+/g).map(Number);
    for (let at = 0; at < data.length; at += 4) {
      const isLine = data[at + 3] > 150 && Math.abs(data[at] - red) < 40 &&
        Math.abs(data[at + 1] - green) < 40 && Math.abs(data[at + 2] - blue) < 40;
      if (isLine) return true;
    }
    return false;
  })()`;
}

/** Returns the contrast of a text with its background (WCAG 2.2, 1.4.3). */
export async function readContrast(page: Page, selector: string): Promise<number> {
  const colours = await page.evaluate(`(() => {
    const element = document.querySelector('${selector}');
    let behind = element;
    while (/, 0\\)$|transparent/.test(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
    return [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor];
  })()`);
  assert.ok(Array.isArray(colours), selector);
  const [one = 0, other = 0] = colours.map((colour) => toLuminance(String(colour)));
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

export function toLuminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/gu) ?? []).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
