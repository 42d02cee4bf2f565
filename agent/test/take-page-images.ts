/**
 * Takes the screenshots of the live page in README.md, of a fictitious machine:
 * `node agent/test/take-page-images.ts docs/images`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { readTlsMaterial } from '#agent/tls/tls-files.ts';
import { Hub } from '#agent/stream/hub.ts';

import { Browser } from './browser.ts';
import { CertificateFixture } from './certificates.ts';
import { changingHost, changingSnapshot } from './changing-machine.ts';
import { shrinkPng } from './shrink-png.ts';
import { openStream } from './stream-harness.ts';

const [, , folder = '.'] = process.argv;
const WINDOW_SECONDS = 300;

using fixture = new CertificateFixture();
const tls = readTlsMaterial({ ...fixture.createRoot('root').issueServer(), clients: null });
let tick = 0;
const startedAtMs = Date.parse('2026-11-21T14:00:00Z');
const now = () => new Date(startedAtMs + tick * 1000);
const hub = new Hub({
  readHost: () => changingHost,
  sampler: { sample: () => changingSnapshot((tick += 1), now()), wake: () => undefined },
  clock: { now, monotonicMs: () => tick * 1000 },
  intervalSeconds: 1,
});
/** Formats the time as the browser on this machine does. */
function formatTime(): string {
  return now().toTimeString().slice(0, 8);
}

await using stream = await openStream({ tls, hub });
await using browser = await Browser.start();

for (const [name, width, height, dark] of [
  ['light', 1280, 1000, false],
  ['dark', 1280, 1000, true],
  ['phone', 390, 844, false],
] as const) {
  const page = await browser.open(`https://127.0.0.1:${stream.port}/`, { width, height, dark });
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
  await page.send('Page.close');
}
