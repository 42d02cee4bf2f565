import { setTimeout as sleep } from 'node:timers/promises';

import type { Browser as Chromium, CDPSession, Page as Tab } from 'playwright-core';

import { launchChromium } from '../../scripts/lib/chromium.ts';

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
}

const TIMEOUT_MS = 30_000;
const POLL_MS = 20;

/** A headless Chromium. */
export class Browser implements AsyncDisposable {
  readonly #chromium: Chromium;

  private constructor(chromium: Chromium) {
    this.#chromium = chromium;
  }

  /** @param args of its command line; default: it accepts any certificate */
  static async start(args = ['--ignore-certificate-errors']): Promise<Browser> {
    return new Browser(await launchChromium(args));
  }

  /** Connects to the tools of the whole browser. */
  async openDevTools(): Promise<CDPSession> {
    return this.#chromium.newBrowserCDPSession();
  }

  /** Opens an address in a new page, without waiting for its files. */
  async open(
    url: string,
    { width = 1280, height = 900, dark = false }: PageOptions = {},
  ): Promise<Page> {
    const context = await this.#chromium.newContext({
      viewport: { width, height },
      isMobile: width < 500,
      colorScheme: dark ? 'dark' : 'light',
    });
    const page = new Page(await context.newPage());
    await page.tab.goto(url, { waitUntil: 'commit' });
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chromium.close();
  }
}

/** A page in the browser. Dispose it, because an open page keeps reconnecting. */
export class Page implements AsyncDisposable {
  readonly tab: Tab;
  /** Errors of the console, uncaught exceptions, and violations of the content security policy. */
  readonly problems: string[] = [];

  constructor(tab: Tab) {
    this.tab = tab;
    tab.setDefaultTimeout(TIMEOUT_MS);
    tab.on('pageerror', (error) => this.problems.push(error.message));
    tab.on('console', (message) => {
      if (message.type() === 'error') this.problems.push(message.text());
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tab.context().close();
  }

  /** Evaluates an expression in the page; awaits a promise. The result must be JSON. */
  async evaluate(expression: string): Promise<unknown> {
    return this.tab.evaluate(expression);
  }

  /** Waits until an expression is true. @throws Error after 30 seconds */
  async until(expression: string): Promise<void> {
    // The policy of the page blocks waitForFunction, which evaluates strings in the page.
    const deadlineMs = performance.now() + TIMEOUT_MS;
    while ((await this.evaluate(`document.body !== null && Boolean(${expression})`)) !== true) {
      if (performance.now() > deadlineMs)
        throw new Error(`Not true within 30 seconds: ${expression}`);
      await sleep(POLL_MS);
    }
  }

  /** Returns the text of an element; null when it is absent or hidden. */
  async read(selector: string): Promise<unknown> {
    const found = `document.querySelector(${JSON.stringify(selector)})`;
    return this.evaluate(`${found}?.checkVisibility() ? ${found}.textContent.trim() : null`);
  }

  /** Returns a screenshot as PNG. */
  async takeScreenshot(fullPage = false): Promise<Buffer> {
    return this.tab.screenshot({ fullPage });
  }
}
