import assert from 'node:assert/strict';
import { test } from 'node:test';

import { expectProblem, LICENSES, readLicense, showLicense } from '../admin-license-steps.ts';
import { startTestService } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';

const service = await startTestService();
const browsers = [await openBrowser(service), await openBrowser(service)];

test('of two operators who change one license at once, the second gets a conflict and the current state', async () => {
  for (let round = 0; round < 10; round++) {
    const { license } = await service.issue();
    const answers = await Promise.all(
      browsers.map((browser, index) =>
        browser.post(`${LICENSES}/${license.id}/change-limit`, {
          expected_version: 1,
          reason: 'both at once',
          max_activations: 10 + index,
        }),
      ),
    );
    const won = answers.findIndex(({ status }) => status === 200);
    const [winner, loser] = [answers[won], answers[1 - won]];
    assert.ok(winner !== undefined && loser !== undefined);
    const [browser] = browsers;
    assert.ok(browser !== undefined);
    const current = await showLicense(browser, license.id);
    assert.equal(current.max_activations, 10 + won);
    assert.deepEqual(readLicense(winner), current);
    expectProblem(loser, 'conflict', { current });
  }
});
