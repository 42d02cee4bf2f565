import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { WebSocket } from 'ws';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome'];

const program = PROGRAMS.find((each) => spawnSync('which', [each]).status === 0);

/** The reason to skip tests that need a browser; false when one is installed. */
export const lacksBrowser =
  program === undefined ? `none of ${PROGRAMS.join(', ')} is installed` : false;

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** A headless Chromium, controlled by the DevTools protocol. It accepts any certificate. */
export class Browser implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, (answer: Answer) => void>();
  readonly #pages = new Map<string, Page>();
  #count = 0;

  private constructor(child: ChildProcess, directory: string, socket: WebSocket) {
    this.#child = child;
    this.#directory = directory;
    this.#socket = socket;
    socket.on('message', (data: Buffer) => this.#receive(JSON.parse(data.toString())));
  }

  static async start(): Promise<Browser> {
    const directory = mkdtempSync(join(tmpdir(), 'latchkey-browser-'));
    const child = spawn(
      program ?? '',
      [
        '--headless=new',
        '--remote-debugging-port=0',
        `--user-data-dir=${directory}`,
        '--ignore-certificate-errors',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-default-apps',
        '--disable-extensions',
        '--disable-sync',
        '--hide-scrollbars',
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
    );
    const socket = new WebSocket(await readAddress(child));
    await once(socket, 'open');
    return new Browser(child, directory, socket);
  }

  /** Opens a page with its own storage. */
  async open(url: string, { width = 1280, height = 900, dark = false } = {}): Promise<Page> {
    const { browserContextId } = await this.send('Target.createBrowserContext', {});
    const { targetId } = await this.send('Target.createTarget', {
      url: 'about:blank',
      browserContextId,
    });
    const attached = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, String(attached['sessionId']), String(browserContextId));
    this.#pages.set(page.sessionId, page);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.send(`${domain}.enable`);
    await page.resize(width, height);
    await page.setScheme(dark ? 'dark' : 'light');
    await page.send('Page.navigate', { url });
    return page;
  }

  /** Runs a command of the protocol. @throws Error with the message of the browser */
  async send(method: string, params: object, sessionId?: string): Promise<Record<string, unknown>> {
    this.#count += 1;
    const id = this.#count;
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    const answer = await new Promise<Answer>((resolve) => this.#pending.set(id, resolve));
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result ?? {};
  }

  #receive(answer: Answer): void {
    if (answer.id !== undefined) {
      this.#pending.get(answer.id)?.(answer);
      this.#pending.delete(answer.id);
    } else if (answer.method !== undefined) {
      this.#pages.get(answer.sessionId ?? '')?.note(answer.method, answer.params ?? {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid } = this.#child;
    const ended = once(this.#child, 'exit');
    // Its processes are a process group.
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    await ended;
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

/** A page in the browser. Dispose it, because an open page keeps reconnecting. */
export class Page implements AsyncDisposable {
  readonly sessionId: string;
  /** Errors of the console, uncaught exceptions, and violations of the content security policy. */
  readonly problems: string[] = [];
  readonly #browser: Browser;
  readonly #contextId: string;

  constructor(browser: Browser, sessionId: string, contextId: string) {
    this.#browser = browser;
    this.sessionId = sessionId;
    this.#contextId = contextId;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const browserContextId = this.#contextId;
    await this.#browser.send('Target.disposeBrowserContext', { browserContextId });
  }

  async send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return this.#browser.send(method, params, this.sessionId);
  }

  note(method: string, params: Record<string, unknown>): void {
    const isProblem =
      method === 'Runtime.exceptionThrown' ||
      (method === 'Runtime.consoleAPICalled' && params['type'] === 'error') ||
      (method === 'Log.entryAdded' && JSON.stringify(params).includes('"level":"error"'));
    if (isProblem) this.problems.push(JSON.stringify(params));
  }

  async resize(width: number, height: number, scale = 1): Promise<void> {
    const size = { width, height, deviceScaleFactor: scale, mobile: width < 500 };
    await this.send('Emulation.setDeviceMetricsOverride', size);
  }

  async setScheme(value: 'light' | 'dark'): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value }];
    await this.send('Emulation.setEmulatedMedia', { features });
  }

  /** Evaluates an expression in the page; awaits a promise. The result must be JSON. */
  async evaluate(expression: string): Promise<unknown> {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', options);
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return result instanceof Object && 'value' in result ? result.value : undefined;
  }

  /** Polls an expression until it is true. @throws Error after 30 seconds */
  async until(expression: string): Promise<void> {
    const deadlineMs = performance.now() + 30_000;
    while ((await this.evaluate(`document.body !== null && Boolean(${expression})`)) !== true) {
      if (performance.now() > deadlineMs)
        throw new Error(`Not true within 30 seconds: ${expression}`);
      await sleep(20);
    }
  }

  /** Returns the text of an element; null when it is absent or hidden. */
  async read(selector: string): Promise<unknown> {
    const found = `document.querySelector(${JSON.stringify(selector)})`;
    return this.evaluate(`${found}?.checkVisibility() ? ${found}.textContent.trim() : null`);
  }

  /** Returns a screenshot as PNG. */
  async takeScreenshot(wholePage = false): Promise<Buffer> {
    const options = { format: 'png', captureBeyondViewport: wholePage, optimizeForSpeed: false };
    const { data } = await this.send('Page.captureScreenshot', options);
    return Buffer.from(String(data), 'base64');
  }
}

async function readAddress(child: ChildProcess): Promise<string> {
  let output = '';
  for await (const chunk of child.stderr ?? []) {
    output += String(chunk);
    const address = /DevTools listening on (?<address>ws:\S+)/u.exec(output)?.groups?.['address'];
    if (address !== undefined) {
      return address;
    }
  }
  throw new Error(`The browser did not start: ${output}`);
}
