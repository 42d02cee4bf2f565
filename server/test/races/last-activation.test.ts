import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { revokeLicense } from '#server/features/licenses/change-license.ts';

import type { HttpClient } from '../http-client.ts';
import { activate, anyMachine, deactivate, listMachines } from '../license-steps.ts';
import { runConcurrently, tally } from './concurrency.ts';
import { openDeployments } from './deployments.ts';

const { one, two, deployments } = await openDeployments();

function ask(service: HttpClient, licenseKey: string, fingerprint: object) {
  const body = { license_key: licenseKey, machine_fingerprint: fingerprint };
  return service.post('/api/v1/licenses/activate', body);
}

async function countActivations(licenseId: string): Promise<{ active: number; all: number }> {
  const { rows } = await one.pool.query<{ active: number; all: number }>(
    `select count(*) filter (where deactivated_at is null) as active, count(*) as "all"
     from activations where license_id = $1`,
    [licenseId],
  );
  return rows[0] ?? { active: -1, all: -1 };
}

for (const { name, pick } of deployments) {
  describe(name, () => {
    test('of 50 concurrent machines on a two-machine license exactly 2 are activated', async () => {
      const { licenseKey, license } = await one.issue();
      const answers = await runConcurrently(50, (index) =>
        ask(pick(index), licenseKey, anyMachine()),
      );
      assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 2, 409: 48 });
      assert.deepEqual(await countActivations(license.id), { active: 2, all: 2 });
      for (const { status, text } of answers) {
        if (status === 409) assert.match(text, /"max":2,"current":2/);
      }
    });

    test('50 concurrent activations of one machine: one activation, one row', async () => {
      const { licenseKey, license } = await one.issue();
      const machine = anyMachine();
      const answers = await runConcurrently(50, (index) =>
        activate(pick(index), licenseKey, machine),
      );
      assert.equal(new Set(answers.map((answer) => answer.activation_id)).size, 1);
      assert.deepEqual(await countActivations(license.id), { active: 1, all: 1 });
    });

    test('one machine with different fingerprints: one activation', async () => {
      const { licenseKey, license } = await one.issue();
      const answers = await runConcurrently(20, (index) =>
        activate(pick(index), licenseKey, { hardware_uuid: 'the same', disk_serial: `d${index}` }),
      );
      assert.equal(new Set(answers.map((answer) => answer.activation_id)).size, 1);
      assert.deepEqual(await countActivations(license.id), { active: 1, all: 1 });
    });

    test('20 licenses with 5 concurrent machines each: 2 activations of each', async () => {
      const issued = await runConcurrently(20, () => one.issue());
      const answers = await runConcurrently(100, (index) =>
        ask(pick(index), issued[index % issued.length]?.licenseKey ?? '', anyMachine()),
      );
      assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 40, 409: 60 });
      for (const { license } of issued) {
        assert.deepEqual(await countActivations(license.id), { active: 2, all: 2 });
      }
    });

    test('concurrent deactivations and activations never exceed the limit', async () => {
      const { licenseKey, license } = await one.issue({ maxActivations: 3 });
      await runConcurrently(12, async (index) => {
        const machine = anyMachine();
        for (let round = 0; round < 4; round++) {
          const answer = await ask(pick(index + round), licenseKey, machine);
          assert.ok((await countActivations(license.id)).active <= 3);
          if (answer.status !== 200) {
            assert.equal(answer.status, 409);
            continue;
          }
          const { activation_id: id } = await activate(pick(index), licenseKey, machine);
          await deactivate(pick(index), licenseKey, id, machine.machine_id);
        }
      });
      assert.equal((await countActivations(license.id)).active, 0);
    });

    test('activates no machine after the response to a revocation', async () => {
      const { licenseKey, license } = await one.issue({ maxActivations: 1000 });
      let revoked = false;
      const asking = runConcurrently(10, async (index) => {
        const statuses: number[] = [];
        while (statuses.at(-1) !== 403 && statuses.length < 200) {
          const tooLate = revoked;
          const answer = await ask(pick(index), licenseKey, anyMachine());
          assert.ok(
            !tooLate || answer.status === 403,
            'a machine was activated on a revoked license',
          );
          statuses.push(answer.status);
        }
        return statuses;
      });
      const change = { keyOrId: license.id, actor: 'test', reason: 'chargeback' };
      await revokeLicense(two.context, change);
      revoked = true;
      const statuses = (await asking).flat();
      const taken = statuses.filter((status) => status === 200).length;
      assert.deepEqual(await countActivations(license.id), { active: taken, all: taken });
      assert.equal((await listMachines(one, licenseKey)).length, taken);
    });
  });
}
