import assert from 'node:assert/strict';
import { test } from 'node:test';

import { activate, deactivate, listMachines, validate } from '../license-steps.ts';
import { runConcurrently, tally } from './concurrency.ts';
import { openDeployments } from './deployments.ts';

const { one, pick } = await openDeployments();

const UNBOUND = { board_serial: 'b', disk_serial: 'd' };

test('20 machines validate an unbound activation concurrently: exactly one is bound', async () => {
  const { licenseKey } = await one.issue();
  const { activation_id: id } = await activate(one, licenseKey, UNBOUND);
  const answers = await runConcurrently(20, async (index) => {
    const machineId = `machine ${index}`;
    return { machineId, ...(await validate(pick(index), licenseKey, id, machineId)) };
  });
  assert.deepEqual(tally(answers.map(({ reason }) => reason)), { null: 1, machine_mismatch: 19 });
  const winner = answers.find(({ valid }) => valid);
  const [listed] = await listMachines(one, licenseKey);
  assert.equal(listed?.machine_id, winner?.machineId);
  assert.equal(listed?.validation_count, 1);
});

test('every response of a first validation and of concurrent deactivations by other machines stays true', async () => {
  for (let round = 0; round < 5; round++) {
    const { licenseKey } = await one.issue();
    const { activation_id: id } = await activate(one, licenseKey, UNBOUND);
    const [validated, ...freed] = await Promise.all([
      validate(pick(0), licenseKey, id, 'the machine'),
      ...[0, 1].map((index) =>
        pick(index).post('/api/v1/licenses/deactivate', {
          license_key: licenseKey,
          activation_id: id,
          machine_id: 'another',
        }),
      ),
    ]);
    const [listed] = await listMachines(one, licenseKey);
    const statuses = freed.map(({ status }) => status);
    if (statuses.includes(200)) {
      assert.equal(listed?.is_active, false);
    } else {
      assert.deepEqual(statuses, [403, 403]);
      assert.deepEqual([validated.valid, listed?.is_active], [true, true]);
      await deactivate(one, licenseKey, id, 'the machine');
    }
    assert.equal(listed?.validation_count, validated.valid ? 1 : 0);
  }
});
