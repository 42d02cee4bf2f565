/** Windows of the browser. A test gets one that another test has closed, because a new one takes longer than a page. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import type { OperatorRole } from '@latchkey/contract';
import type { Browser, BrowserContext, Page } from 'playwright-core';

import type { TestService } from '../../server/test/harness.ts';
import { openBrowser } from '../../server/test/operator-steps.ts';

/** For a busy machine; usual waits take some 50 ms. */
const TIMEOUT_MS = 20_000;

/** The size and the color scheme of a window. */
export interface Look {
  readonly width: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** Whether nothing of another test may be in it, such as cached files, and nothing of it in another: a changed clock. */
  readonly own?: boolean;
}

/** A window of the browser with what went wrong in it. */
export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the console, uncaught exceptions, violations of the policy, and requests to other hosts. */
  readonly problems: readonly string[];
  /** Loads a path below `/console`, and waits until its content is shown. */
  readonly go: (path: string) => Promise<void>;
  /** Goes to a path as a link of the loaded console does, which takes a tenth of a load. */
  readonly follow: (path: string) => Promise<void>;
  /**
   * Ends the use; the next test may get the window, with another session.
   * @param expected the only problems that the test causes, such as the status of a refused request
   * @throws AssertionError for every other problem
   */
  readonly close: (...expected: readonly RegExp[]) => Promise<void>;
}

/** A page of the browser, in a context of its own. */
interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly problems: string[];
}

export class Windows {
  readonly #browser: Browser;
  readonly #service: TestService;
  readonly #idle: Opened[] = [];

  constructor(browser: Browser, service: TestService) {
    this.#browser = browser;
    this.#service = service;
  }

  /** @param role of a new operator; null: signed out */
  async open(role: OperatorRole | null, look: Look = { width: 1440 }): Promise<Window> {
    const { width, height = 900, dark = false, own = false } = look;
    const opened = (own ? undefined : this.#idle.pop()) ?? (await this.#create());
    const { page, context } = opened;
    await context.clearCookies();
    if (role !== null) await context.addCookies([await createCookie(this.#service, role)]);
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    return {
      ...createWindow(opened, this.#service.url),
      close: (...expected) => this.#close(opened, own, expected),
    };
  }

  async #create(): Promise<Opened> {
    const context = await this.#browser.newContext({
      locale: 'en-US',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(TIMEOUT_MS);
    const page = await context.newPage();
    return { page, context, problems: collectProblems(page, this.#service.url) };
  }

  async #close(opened: Opened, own: boolean, expected: readonly RegExp[]): Promise<void> {
    const { page, context, problems } = opened;
    const others = problems.filter((problem) => !expected.some((each) => each.test(problem)));
    assert.deepEqual(others, []);
    if (own) return context.close();
    await page.evaluate('localStorage.clear(); sessionStorage.clear();');
    await page.unrouteAll();
    await page.goto('about:blank');
    problems.length = 0;
    this.#idle.push(opened);
  }
}

function createWindow({ page, context, problems }: Opened, url: string): Omit<Window, 'close'> {
  const show = async (path: string, navigate: (to: string) => Promise<unknown>): Promise<void> => {
    await navigate(`${url}/console${path === '/' ? '' : path}`);
    await waitUntilShown(page).catch(async (error: unknown) => {
      const shown = await page.locator('body').innerText();
      throw new Error([path, ...problems, shown].join('\n'), { cause: error });
    });
  };
  return {
    page,
    context,
    problems,
    go: (path) => show(path, (to) => page.goto(to)),
    follow: (path) => show(path, (to) => page.evaluate(followLink(to))),
  };
}

/** Returns an expression that follows a link to a page of the console, and waits until the page is rendered. */
function followLink(url: string): string {
  return `new Promise((resolve) => {
    history.pushState(null, '', ${JSON.stringify(url)});
    dispatchEvent(new PopStateEvent('popstate'));
    requestAnimationFrame(() => setTimeout(resolve));
  })`;
}

/** Signs in an operator without the costs of a password. */
async function createCookie(service: TestService, role: OperatorRole) {
  const { cookie } = await openBrowser(service, role);
  const value = cookie.slice(cookie.indexOf('=') + 1);
  return { name: 'latchkey', value, url: service.url };
}

function collectProblems(page: Page, origin: string): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    problems.push(`script of the data: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!['data:', 'blob:', 'about:'].includes(url.protocol) && url.origin !== origin) {
      problems.push(`request to another host: ${url.href}`);
    }
  });
  return problems;
}

/** An expression; the policy of the page forbids functions from texts, which `waitForFunction` would create. */
const IS_SHOWN = `document.querySelector('.loading, [aria-busy="true"]') === null`;

const POLL_MS = 25;

/** Waits for a heading, and until nothing is loading. */
export async function waitUntilShown(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  while (!(await page.evaluate<boolean>(IS_SHOWN))) await sleep(POLL_MS);
}
