import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rekeyLicense } from '#server/features/licenses/rekey-license.ts';

import { eventually } from '../eventually.ts';
import { startTestService } from '../harness.ts';
import { anyMachine } from '../license-steps.ts';
import { runConcurrently, tally } from './concurrency.ts';

const service = await startTestService();

const activateBy = (licenseKey: string) =>
  service.post('/api/v1/licenses/activate', {
    license_key: licenseKey,
    machine_fingerprint: anyMachine(),
  });

const rekey = (keyOrId: string) =>
  rekeyLicense(
    service.context,
    { keyOrId, actor: 'test', reason: 'a race', keepMachines: true },
    async () => {},
  );

/** Waits until that many connections wait for a lock. */
async function waitForLocks(count: number): Promise<void> {
  await eventually(async () => {
    const { rows } = await service.pool.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    return rows.length === count;
  });
}

test('an activation whose key is replaced between look-up and lock is refused', async () => {
  const { license, licenseKey } = await service.issue();
  const holder = await service.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select from licenses where id = $1 for update', [license.id]);
    const rekeying = rekey(licenseKey);
    await waitForLocks(1);
    const activating = activateBy(licenseKey);
    await waitForLocks(2);
    await holder.query('commit');
    await rekeying;
    assert.equal((await activating).status, 404);
  } finally {
    holder.release();
  }
  assert.equal(await service.count('activations'), 0);
});

test('of several concurrent replacements of a key one succeeds, and the old key activates nothing', async () => {
  const { licenseKey } = await service.issue();
  const [rekeyed, answers] = await Promise.all([
    Promise.allSettled(Array.from({ length: 4 }, () => rekey(licenseKey))),
    runConcurrently(30, () => activateBy(licenseKey)),
  ]);
  assert.deepEqual(tally(rekeyed.map(({ status }) => status)), { fulfilled: 1, rejected: 3 });
  assert.ok(answers.every(({ status }) => [200, 404, 409].includes(status)));
  const after = await runConcurrently(5, () => activateBy(licenseKey));
  assert.deepEqual(tally(after.map(({ status }) => status)), { 404: 5 });
});
