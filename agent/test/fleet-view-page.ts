/** The view of the fleet page with invented machines, in a browser, under the policy of an agent's page. */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

import type { Browser as Chromium } from 'playwright-core';

import { readFleetStyles } from '#agent/page/fleet/read-styles.ts';
import { linkScripts } from '#agent/page/link-scripts.ts';

import { Page, type PageOptions } from './browser.ts';

const ORIGIN = 'https://fleet.test';

/** An agent's policy; the digests are left out, because Playwright's scripts need none. */
const POLICY = `default-src 'none'; script-src ${ORIGIN}; style-src ${ORIGIN}; form-action 'none'; require-trusted-types-for 'script'`;

function readPageFile(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../src/page/${path}`, import.meta.url)), 'utf8');
}

/** Links the page; reads 40 files. */
export function buildFakeFleetPage(): ReadonlyMap<string, readonly [type: string, body: string]> {
  const script = linkScripts('fleet/view/fake-page.fixture.ts', (file) =>
    stripTypeScriptTypes(readPageFile(file)),
  );
  const styles = [
    readPageFile('styles/theme.css'),
    'body { margin: 0; background: var(--page); color: var(--text); font-family: system-ui, sans-serif } main { padding: 20px }',
    readFleetStyles(),
  ];
  const html = `<!doctype html><html lang="en"><head><title>Fleet</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/style.css"><script type="module" src="/script.js"></script></head><body></body></html>`;
  return new Map([
    ['/script.js', ['text/javascript; charset=utf-8', script]],
    ['/style.css', ['text/css; charset=utf-8', styles.join('\n')]],
    ['/', ['text/html; charset=utf-8', html]],
  ]);
}

interface FakeFleetOptions extends PageOptions {
  /** The query of the page: `machines=3&still`. */
  readonly query?: string;
  /** Device pixels for each CSS pixel. */
  readonly scale?: number;
  /** Whether the test moves the time of the page. */
  readonly clock?: boolean;
}

/** Opens the page with invented machines. */
export async function openFakeFleet(
  chromium: Chromium,
  files: ReturnType<typeof buildFakeFleetPage>,
  {
    width = 1280,
    height = 900,
    dark = false,
    query = '',
    scale = 1,
    clock = false,
  }: FakeFleetOptions = {},
): Promise<Page> {
  const context = await chromium.newContext({
    viewport: { width, height },
    deviceScaleFactor: scale,
    colorScheme: dark ? 'dark' : 'light',
    locale: 'en-GB',
  });
  await context.route('**/*', async (route) => {
    const [contentType, body] = files.get(new URL(route.request().url()).pathname) ?? [];
    if (body === undefined || contentType === undefined) return route.fulfill({ status: 404 });
    return route.fulfill({ contentType, body, headers: { 'Content-Security-Policy': POLICY } });
  });
  if (clock) await context.clock.install();
  const page = new Page(await context.newPage());
  await page.tab.goto(`${ORIGIN}/?${query}`, { waitUntil: 'load' });
  return page;
}
