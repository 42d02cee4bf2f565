/** The page of more machines than a browser connects to at once, and the page while nobody sees it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { lacksChromium } from '../../../scripts/lib/chromium.ts';
import { Browser } from '../browser.ts';
import { lacksOpenssl } from '../certificates.ts';
import { findFreePort } from '../find-free-port.ts';
import { until } from '../wait.ts';
import { AgentFleet } from './agent-fleet.ts';
import { openFleetPage } from './fleet-page.ts';
import { PlainTab } from './plain-tab.ts';

const COUNT = 160;
/** As in the core of the page. */
const MAX_OPEN = 150;

const isTitled = (text: string): string =>
  `document.querySelector('.fleet h1').textContent === ${JSON.stringify(text)}`;

const skip = lacksChromium || lacksOpenssl;

describe('the page of 160 machines', { skip }, () => {
  let fleet: AgentFleet;
  let browser: Browser;
  before(async () => {
    fleet = await AgentFleet.start({ count: COUNT, port: await findFreePort(), withFaults: false });
    browser = await Browser.start([fleet.trustArgument]);
  });
  after(async () => {
    await browser?.[Symbol.asyncDispose]();
    await fleet?.[Symbol.asyncDispose]();
  });

  test('connects to 150 at once, and to the others by turns', async () => {
    await using page = await openFleetPage(browser, fleet);
    await until(async () => (await fleet.countViewers()) === MAX_OPEN);
    await page.until(isTitled('150 of 160 machines are calm'));
    let most = 0;
    await until(async () => {
      most = Math.max(most, await fleet.countViewers());
      return (await page.evaluate(isTitled('All 160 machines are calm'))) === true;
    });
    assert.ok(most <= MAX_OPEN, `${most} at once`);
  });

  test('disconnects while another tab hides it, shows that in its title, and continues without a gap', async () => {
    await using tab = await PlainTab.open(browser, fleet.listUrl);
    await until(async () => (await fleet.countViewers()) === MAX_OPEN);
    await tab.hide();
    await until(async () => (await fleet.countViewers()) === 0);
    assert.equal(await tab.readTitle(), 'Paused · Fleet · Latchkey');
    await tab.show();
    await until(async () => (await fleet.countViewers()) === MAX_OPEN);
    await until(async () => (await tab.readTitle()) === 'Fleet · Latchkey');
  });
});
