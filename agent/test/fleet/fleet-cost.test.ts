/** What the page of a hundred machines costs a browser, while nothing happens. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lacksChromium } from '../../../scripts/lib/chromium.ts';
import { Browser } from '../browser.ts';
import { lacksOpenssl } from '../certificates.ts';
import { findFreePort } from '../find-free-port.ts';
import { until } from '../wait.ts';
import { AgentFleet } from './agent-fleet.ts';
import { measureBrowser } from './browser-cost.ts';
import { measureLoad } from './fleet-page.ts';
import { PlainTab } from './plain-tab.ts';

const COUNT = 100;

/** Of the machines that `plan.ts` lists. */
const PROBLEMS = 13;

/** As long as a person looks at a quiet page. */
const SECONDS = 20;

/** The processor time of all processes of the browser, and the memory of the page's process. */
const MAX_CORES = 0.1;
const MAX_BYTES = 150e6;

const skip = lacksChromium || lacksOpenssl;

test(
  'the page of a hundred machines takes a tenth of a core and 150 MB',
  { skip },
  async (context) => {
    await using fleet = await AgentFleet.start({
      count: COUNT,
      port: await findFreePort(),
      withFaults: true,
    });
    await using browser = await Browser.start([fleet.trustArgument]);
    await using tab = await PlainTab.open(browser, fleet.listUrl);
    await until(async () => (await tab.readTitle()) === `(${PROBLEMS}) Fleet · Latchkey`);
    const { cores, rendererBytes } = await measureBrowser(browser, SECONDS);
    const load = measureLoad();
    context.diagnostic(JSON.stringify({ cores, rendererBytes, load }));
    const total = Object.values(cores).reduce((sum, each) => sum + each);
    assert.ok(total > 0 && total < MAX_CORES * load, `${total} cores`);
    // A busy browser collects its garbage later.
    assert.ok(rendererBytes < MAX_BYTES * Math.min(2, load), `${rendererBytes} bytes`);
  },
);
