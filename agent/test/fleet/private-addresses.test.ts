/** A page of a public address, which the browser does not let connect to this computer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lacksChromium } from '../../../scripts/lib/chromium.ts';
import { Browser } from '../browser.ts';
import { lacksOpenssl } from '../certificates.ts';
import { findFreePort } from '../find-free-port.ts';
import { AgentFleet } from './agent-fleet.ts';
import { openFleetPage, waitForProblems } from './fleet-page.ts';

const skip = lacksChromium || lacksOpenssl;

test('names private addresses that the browser forbids to a public page', { skip }, async () => {
  const port = await findFreePort();
  await using fleet = await AgentFleet.start({ count: 3, port, withFaults: false });
  const { host, id } = fleet.plans[0] ?? assert.fail();
  await using browser = await Browser.start([
    fleet.trustArgument,
    `--ip-address-space-overrides=${host}:${port}=public`,
  ]);
  await using page = await openFleetPage(browser, fleet);
  const others = fleet.plans.filter((plan) => plan.id !== id);
  const devTools = await page.tab.context().newCDPSession(page.tab);
  await devTools.send('Browser.setPermission', {
    permission: { name: 'loopback-network' },
    setting: 'denied',
  });
  await waitForProblems(
    page,
    Object.fromEntries(
      others.map((plan) => [plan.id, /^Has a private address: allow this page to reach your/]),
    ),
  );
  assert.equal(await page.read('h1'), '1 of 3 machines is calm');
});
