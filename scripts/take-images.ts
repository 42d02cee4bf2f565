/** Takes the screenshots of the service in docs/: `node scripts/take-images.ts docs/images`. */
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

const issued = await service.runShell('latchkey license issue --product personal --json');
const licenseKey = /"license_key": *"(?<key>[^"]+)"/u.exec(issued)?.groups?.['key'] ?? '';
for (const [machine, os, version] of [
  ['STUDIO-PC-2', 'Windows 11 24H2', '2.4.1'],
  ['Ada’s MacBook Air', 'macOS 26.1', '2.4.0'],
]) {
  await fetch(`${service.url}/api/v1/licenses/activate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      license_key: licenseKey,
      machine_fingerprint: { machine_id: machine, os_version: os, app_version: version },
    }),
  });
}

{
  await using page = await browser.open(`${service.url}/my`, { width: 375, height: 760 });
  await page.tab.locator('#key').fill(licenseKey);
  await page.tab.locator('form[action="/my/key"] button').click();
  await page.tab.locator('#machines').waitFor();
  const picture = await page.tab.screenshot({ fullPage: true });
  writeFileSync(join(folder, 'buyer-page.png'), shrinkPng(picture));
}
