/**
 * `npm run demo:pictures`: takes the pictures of the console for README.md and docs/, in light and dark, from a demo with
 * the usual seed.
 *
 *     npm run demo:pictures                          all pictures, into docs/pictures
 *     npm run demo:pictures -- --from http://127.0.0.1:4480   from a demo that runs already
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import type { Browser } from 'playwright-core';

import { shrinkPng } from '../../agent/test/shrink-png.ts';
import { launchChromium } from '../lib/chromium.ts';
import { waitUntilShown } from '../../console/test/windows.ts';
import { repository } from '../lib/steps.ts';
import { ADMIN } from './past/people.ts';
import { PASSWORD } from './past/operators.ts';

const PORT = 4_490;
const SIZE = { width: 1_240, height: 800 };
const FOLDER = join(repository, 'docs', 'pictures');

/** The pages by the name of their picture. `{license}` is a license that is past due. */
const PAGES: Readonly<Record<string, string>> = {
  start: '/',
  licenses: '/licenses',
  license: '/licenses/{license}',
  payments: '/payments',
  events: '/events',
  outreach: '/outreach',
};

const { values } = parseArgs({ options: { from: { type: 'string' } } });

await using resources = new AsyncDisposableStack();
const url = values.from ?? (await startDemo());
const browser = await launchChromium();
resources.defer(() => browser.close());
const cookie = await signIn();
const license = await findLicense();
mkdirSync(FOLDER, { recursive: true });
for (const [name, path] of Object.entries(PAGES)) {
  for (const scheme of ['light', 'dark'] as const) {
    const png = shrinkPng(await take(browser, path.replace('{license}', license), scheme));
    writeFileSync(join(FOLDER, `${name}-${scheme}.png`), png);
    console.log(`${name}-${scheme}.png  ${Math.round(png.length / 1024)} kB`);
  }
}

async function startDemo(): Promise<string> {
  const main = join(repository, 'scripts', 'demo', 'main.ts');
  const demo = spawn(process.execPath, [main, '--port', String(PORT)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  resources.defer(async () => {
    demo.kill('SIGTERM');
    await once(demo, 'exit');
  });
  let output = '';
  for await (const chunk of demo.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (output.includes('Ctrl-C')) return `http://127.0.0.1:${PORT}`;
  }
  throw new Error('the demo did not start');
}

/** Returns the value of the session's cookie. */
async function signIn(): Promise<string> {
  const response = await fetch(`${url}/api/v1/admin/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ email: ADMIN.email, password: PASSWORD }),
  });
  const [header = ''] = response.headers.getSetCookie();
  const [, value = ''] = /^latchkey=([^;]+)/.exec(header) ?? [];
  if (value === '') throw new Error(`could not sign in: ${await response.text()}`);
  return value;
}

async function findLicense(): Promise<string> {
  const response = await fetch(`${url}/api/v1/admin/licenses?status=past_due&limit=1`, {
    headers: { cookie: `latchkey=${cookie}` },
  });
  const [, id] = /"id":"([\da-f-]{36})"/.exec(await response.text()) ?? [];
  if (id === undefined) throw new Error('the demo has no license that is past due');
  return id;
}

async function take(opened: Browser, path: string, colorScheme: 'light' | 'dark'): Promise<Buffer> {
  const context = await opened.newContext({
    viewport: SIZE,
    colorScheme,
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  await context.addCookies([{ name: 'latchkey', value: cookie, url }]);
  const page = await context.newPage();
  await page.goto(`${url}/console${path === '/' ? '' : path}`);
  await waitUntilShown(page);
  const picture = await page.screenshot();
  await context.close();
  return picture;
}
