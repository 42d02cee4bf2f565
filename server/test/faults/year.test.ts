import assert from 'node:assert/strict';
import { test } from 'node:test';

import { runYear } from '../../../soak/year/run-year.ts';

test('after a year of 200 buyers each payment has one outcome, each license the days that were paid, and revenue every cent', async () => {
  const report = await runYear({ buyers: 200, seed: 1 });
  assert.deepEqual(report.differences, []);
  const { license, attention, ignored } = report.outcomes;
  assert.equal(license + attention + ignored, report.payments);
  assert.ok(report.payments > 300, String(report.payments));
  assert.ok(report.deliveries > report.events, 'no event was delivered twice');
});
