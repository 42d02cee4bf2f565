/** Takes the screenshots of the service in README.md: `node scripts/take-images.ts docs/images`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Browser } from '../agent/test/browser.ts';
import { shrinkPng } from '../agent/test/shrink-png.ts';
import { startDocumentedService } from './lib/documented-service.ts';

const [, , folder = '.'] = process.argv;

await using service = await startDocumentedService();
await using browser = await Browser.start();

async function take(name: string, url: string, height: number, isReady: string): Promise<void> {
  await using page = await browser.open(url, { width: 760, height });
  await page.until(isReady);
  // Waits for scrolling and fonts.
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 1000))');
  writeFileSync(join(folder, `${name}.png`), shrinkPng(await page.takeScreenshot()));
}

const operation = `${service.url}/docs#/licenses/activateLicense`;
await take('interface', operation, 900, 'document.querySelector(".responses-inner") !== null');

const mail = await service.runShell('latchkey mail preview key --out key.html 2>&1; cat key.html');
const document = `data:text/html;base64,${Buffer.from(mail.slice(mail.indexOf('<!'))).toString('base64')}`;
await take('key-email', document, 900, 'document.querySelector("h1") !== null');
