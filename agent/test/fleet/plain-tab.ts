import type { CDPSession } from 'playwright-core';

import type { Browser } from '../browser.ts';

/** In CSS pixels. */
const SIZE = { width: 1280, height: 900 };

/**
 * A tab as people have it, of which only the title is read. Playwright keeps its own pages visible, and has each message of a
 * WebSocket reported, which costs a page of a hundred machines 4 % of a core.
 */
export class PlainTab implements AsyncDisposable {
  readonly #devTools: CDPSession;
  readonly #context: string;
  readonly #target: string;
  readonly #other: string;

  private constructor(devTools: CDPSession, context: string, target: string, other: string) {
    this.#devTools = devTools;
    this.#context = context;
    this.#target = target;
    this.#other = other;
  }

  /** Opens an address in front of an empty tab. */
  static async open(browser: Browser, url: string): Promise<PlainTab> {
    const devTools = await browser.openDevTools();
    const { browserContextId } = await devTools.send('Target.createBrowserContext');
    const create = async (address: string, size = {}): Promise<string> => {
      const target = { url: address, browserContextId, ...size };
      return (await devTools.send('Target.createTarget', target)).targetId;
    };
    // The first tab opens the window.
    const other = await create('about:blank', SIZE);
    const tab = new PlainTab(devTools, browserContextId, await create(url), other);
    await tab.show();
    return tab;
  }

  async show(): Promise<void> {
    await this.#devTools.send('Target.activateTarget', { targetId: this.#target });
  }

  /** Brings the other tab to the front. */
  async hide(): Promise<void> {
    await this.#devTools.send('Target.activateTarget', { targetId: this.#other });
  }

  async readTitle(): Promise<string> {
    const { targetInfos } = await this.#devTools.send('Target.getTargets');
    return targetInfos.find(({ targetId }) => targetId === this.#target)?.title ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const context = { browserContextId: this.#context };
    await this.#devTools.send('Target.disposeBrowserContext', context);
  }
}
