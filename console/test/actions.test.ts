/** What operators do, in Chromium; each area has a file in `areas/`. */
import { after, before, describe } from 'node:test';

import { testAudience } from './areas/audience.ts';
import { testExports } from './areas/exports.ts';
import { testChanges } from './areas/changes.ts';
import { testOutreach } from './areas/outreach.ts';
import { testAccount } from './areas/account.ts';
import { testFailures } from './areas/failures.ts';
import { testFind } from './areas/find.ts';
import { testFleet } from './areas/fleet.ts';
import { testAdministration } from './areas/administration.ts';
import { testIssuing } from './areas/issuing.ts';
import { testLicenses } from './areas/licenses.ts';
import { testSales } from './areas/sales.ts';
import { testLoad } from './areas/load.ts';
import { testSession } from './areas/session.ts';
import { testSpeed } from './areas/speed.ts';
import { testUsage } from './areas/usage.ts';
import { lacksChromium } from '../../scripts/lib/chromium.ts';
import { openConsole, type Console } from './open-console.ts';

/** Registers the tests of one area. @param running returns the running console inside a test */
type AreaTests = (running: () => Console) => void;

const AREAS: Readonly<Record<string, AreaTests>> = {
  audience: testAudience,
  outreach: testOutreach,
  session: testSession,
  account: testAccount,
  failures: testFailures,
  find: testFind,
  fleet: testFleet,
  licenses: testLicenses,
  issuing: testIssuing,
  administration: testAdministration,
  sales: testSales,
  usage: testUsage,
  exports: testExports,
  changes: testChanges,
  load: testLoad,
  speed: testSpeed,
};

describe('the console', { skip: lacksChromium }, () => {
  const resources = new AsyncDisposableStack();
  let opened: Console;
  before(async () => {
    opened = await openConsole(resources);
  });
  after(() => resources.disposeAsync());

  for (const [name, registerTests] of Object.entries(AREAS)) {
    describe(name, () => registerTests(() => opened));
  }
});
