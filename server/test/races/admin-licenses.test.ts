import assert from 'node:assert/strict';
import { test } from 'node:test';

import { expectProblem, LICENSES, readLicense, showLicense } from '../admin-license-steps.ts';
import { openBrowsers, openDeployments } from './deployments.ts';

const deployments = await openDeployments();
const { one } = deployments;
const browserOf = await openBrowsers(deployments);
const operators = [browserOf, await openBrowsers(deployments)];

test('of two operators who change one license at once at two processes, the second gets a conflict and the current state', async () => {
  for (let round = 0; round < 10; round++) {
    const { license } = await one.issue();
    const answers = await Promise.all(
      operators.map((browser, index) =>
        browser(index).post(`${LICENSES}/${license.id}/change-limit`, {
          expected_version: 1,
          reason: 'both at once',
          max_activations: 10 + index,
        }),
      ),
    );
    const won = answers.findIndex(({ status }) => status === 200);
    const [winner, loser] = [answers[won], answers[1 - won]];
    assert.ok(winner !== undefined && loser !== undefined);
    const current = await showLicense(browserOf(0), license.id);
    assert.equal(current.max_activations, 10 + won);
    assert.deepEqual(readLicense(winner), current);
    expectProblem(loser, 'conflict', { current });
  }
});
