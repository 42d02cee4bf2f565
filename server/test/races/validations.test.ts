import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { LicenseValidateResponse } from '@latchkey/contract';

import { revokeLicense } from '#server/features/licenses/change-license.ts';

import type { HttpClient } from '../http-client.ts';
import { activate, anyMachine, deactivate, listMachines, validate } from '../license-steps.ts';
import { runConcurrently, tally } from './concurrency.ts';
import { openDeployments } from './deployments.ts';

const { one, deployments, pick: pickEither } = await openDeployments();

async function setUp() {
  const { licenseKey, license } = await one.issue();
  const { machine_id: machineId } = anyMachine();
  const { activation_id: id } = await activate(one, licenseKey, { machine_id: machineId });
  const countOf = async () => (await listMachines(one, licenseKey))[0]?.validation_count;
  return { licenseKey, license, machineId, id, countOf };
}

/**
 * Runs ten clients that validate while the activation ends. Asserts that validations sent after the response to the end
 * are invalid, and that the count equals the number of valid responses.
 */
async function endWhileValidating(
  pick: (index: number) => HttpClient,
  reason: string,
  end: (machine: Awaited<ReturnType<typeof setUp>>) => Promise<unknown>,
): Promise<void> {
  const machine = await setUp();
  const { licenseKey, id, machineId, countOf } = machine;
  let isOver = false;
  const asking = runConcurrently(10, async (index) => {
    const answers: LicenseValidateResponse[] = [];
    for (let left = 3; left > 0 && answers.length < 500;) {
      const tooLate = isOver;
      const answer = await validate(pick(index), licenseKey, id, machineId);
      assert.ok(!(tooLate && answer.valid), 'valid after the response to the end');
      answers.push(answer);
      if (tooLate) left--;
    }
    return answers;
  });
  await validate(one, licenseKey, id, machineId);
  await end(machine);
  isOver = true;
  const answers = (await asking).flat();
  const counts = tally(answers.map((answer) => answer.reason));
  assert.ok((counts[reason] ?? 0) >= 30);
  assert.deepEqual(Object.keys(counts).sort(), [reason, 'null'].sort());
  assert.equal(await countOf(), (counts['null'] ?? 0) + 1);
}

for (const { name, pick } of deployments) {
  describe(name, () => {
    test('50 concurrent validations of one activation are counted as exactly 50', async () => {
      const { licenseKey, id, machineId, countOf } = await setUp();
      const answers = await runConcurrently(50, (index) =>
        validate(pick(index), licenseKey, id, machineId),
      );
      assert.ok(answers.every(({ valid }) => valid));
      assert.equal(await countOf(), 50);
    });

    test('5 concurrent validations of each of 20 activations are counted separately', async () => {
      const machines = await runConcurrently(20, setUp);
      await runConcurrently(100, async (index) => {
        const machine = machines[index % machines.length];
        assert.ok(machine);
        const { licenseKey, id, machineId } = machine;
        assert.equal((await validate(pick(index), licenseKey, id, machineId)).valid, true);
      });
      for (const { countOf } of machines) assert.equal(await countOf(), 5);
    });

    test('is never valid after the response to a deactivation', async () => {
      await endWhileValidating(pick, 'activation_inactive', ({ licenseKey, id, machineId }) =>
        deactivate(one, licenseKey, id, machineId),
      );
    });

    test('is never valid after the response to a revocation', async () => {
      await endWhileValidating(pick, 'license_revoked', ({ license }) =>
        revokeLicense(one.context, { keyOrId: license.id, actor: 'test', reason: 'fraud' }),
      );
    });
  });
}

test('an activation that many requests deactivate is deactivated once', async () => {
  const { licenseKey, id, machineId } = await setUp();
  const answers = await runConcurrently(20, (index) =>
    deactivate(pickEither(index), licenseKey, id, machineId),
  );
  assert.ok(answers.every(({ success, activation_id: each }) => success && each === id));
  const [listed, ...others] = await listMachines(one, licenseKey);
  assert.deepEqual([listed?.is_active, others], [false, []]);
});
