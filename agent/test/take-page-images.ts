/**
 * Takes the screenshots of the live page in README.md and docs/, of a fictitious machine:
 * `node agent/test/take-page-images.ts docs/images`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { readTlsMaterial } from '#agent/tls/tls-files.ts';

import { Browser } from './browser.ts';
import { CertificateFixture } from './certificates.ts';
import { Machine } from './live-page.ts';
import { shrinkPng } from './shrink-png.ts';
import { openStream } from './stream-harness.ts';

const [, , folder = '.'] = process.argv;
const WINDOW_SECONDS = 300;

using fixture = new CertificateFixture();
const tls = readTlsMaterial({ ...fixture.createRoot('root').issueServer(), clients: null });
const machine = new Machine();
const hub = machine.openHub();

/** Formats the time as the browser on this machine does. */
function formatTime(): string {
  return machine.now().toTimeString().slice(0, 8);
}

await using stream = await openStream({ tls, hub });
await using browser = await Browser.start();

for (const [name, width, height, dark] of [
  ['light', 1280, 1000, false],
  ['dark', 1280, 1000, true],
  ['phone', 390, 844, false],
] as const) {
  await using page = await browser.open(`https://127.0.0.1:${stream.port}/`, {
    width,
    height,
    dark,
  });
  await page.until('document.body.dataset.state === "live"');
  for (let each = 0; each < WINDOW_SECONDS; each += 1) {
    hub.tick();
    // A viewer that cannot keep up would be dropped.
    if (each % 5 === 0) await page.evaluate('1');
  }
  await page.until(`document.querySelector('#time').textContent === '${formatTime()}'`);
  await sleep(500);
  writeFileSync(join(folder, `agent-${name}.png`), shrinkPng(await page.takeScreenshot()));
  if (process.env['WHOLE_PAGE'] === 'yes') {
    writeFileSync(
      join(folder, `agent-${name}-whole.png`),
      shrinkPng(await page.takeScreenshot(true)),
    );
  }
}
