import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { anyMachine, startTrial } from '../license-steps.ts';
import { runConcurrently } from './concurrency.ts';
import { openDeployments } from './deployments.ts';

const { one, deployments } = await openDeployments();

const TABLES = ['licenses', 'license_keys', 'activations'];

/** Runs the work and returns the number of rows added to each of the three tables. */
async function countNew(work: () => Promise<unknown>): Promise<number[]> {
  const before = await Promise.all(TABLES.map((table) => one.count(table)));
  await work();
  const after = await Promise.all(TABLES.map((table) => one.count(table)));
  return after.map((count, index) => count - (before[index] ?? 0));
}

for (const { name, pick } of deployments) {
  /** Returns the number of different keys that machines get when they start a trial concurrently. */
  const startAtOnce = async (times: number, fingerprint: (index: number) => object) => {
    const keys = await runConcurrently(
      times,
      async (index) => (await startTrial(pick(index), { ...fingerprint(index) })).license_key,
    );
    return new Set(keys).size;
  };

  describe(name, () => {
    test('50 concurrent requests of one machine: one grant', async () => {
      const machine = anyMachine();
      const grown = await countNew(async () => {
        assert.equal(await startAtOnce(50, () => machine), 1);
      });
      assert.deepEqual(grown, [1, 1, 1]);
    });

    test('50 concurrent machines that share a strong component: one grant', async () => {
      const uuid = randomUUID();
      const [licenses, keys] = await countNew(async () => {
        const grants = await startAtOnce(50, (index) => ({
          hardware_uuid: uuid,
          disk_serial: `${uuid} ${index}`,
        }));
        assert.equal(grants, 1);
      });
      assert.deepEqual([licenses, keys], [1, 1]);
    });

    test('50 concurrent machines that share two medium components: one grant', async () => {
      const uuid = randomUUID();
      const [licenses, keys] = await countNew(async () => {
        const grants = await startAtOnce(50, (index) => ({
          board_serial: `board ${uuid}`,
          bios_serial: `bios ${uuid}`,
          disk_serial: `disk ${uuid} ${index}`,
        }));
        assert.equal(grants, 1);
      });
      assert.deepEqual([licenses, keys], [1, 1]);
    });

    test('50 different concurrent machines: 50 grants', async () => {
      const grown = await countNew(async () => {
        assert.equal(await startAtOnce(50, anyMachine), 50);
      });
      assert.deepEqual(grown, [50, 50, 50]);
    });

    test('a chain of machines that each share a component with the next: each keeps one grant', async () => {
      const uuid = randomUUID();
      const link = (index: number) => ({
        machine_id: `${uuid} ${index}`,
        hardware_uuid: `${uuid} ${index + 1}`,
      });
      // Every machine three times, the chain in an order that no one link decides.
      const order = Array.from({ length: 30 }, (_, index) => (index * 7) % 10);
      const keys = await runConcurrently(order.length, async (index) => {
        const { license_key: key } = await startTrial(pick(index), {
          ...link(order[index] ?? 0),
        });
        return { link: order[index] ?? 0, key };
      });
      for (let index = 0; index < 10; index++) {
        const received = new Set(keys.filter((each) => each.link === index).map(({ key }) => key));
        assert.equal(received.size, 1, `machine ${index} received ${received.size} keys`);
        const { license_key: again } = await startTrial(one, link(index));
        assert.ok(received.has(again));
      }
    });
  });
}
