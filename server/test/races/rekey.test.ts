import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rekeyLicense } from '#server/features/licenses/rekey-license.ts';

import { readBody } from '../acceptance/bodies.ts';
import { LICENSES } from '../admin-license-steps.ts';
import { anyMachine } from '../license-steps.ts';
import { runConcurrently, tally, waitForLocks } from './concurrency.ts';
import { openBrowsers, openDeployments } from './deployments.ts';

const deployments = await openDeployments();
const { one, pick } = deployments;
const browserOf = await openBrowsers(deployments);

const activateBy = (licenseKey: string, index = 0) =>
  pick(index).post('/api/v1/licenses/activate', {
    license_key: licenseKey,
    machine_fingerprint: anyMachine(),
  });

const rekey = (keyOrId: string) =>
  rekeyLicense(
    one.context,
    { keyOrId, actor: 'test', reason: 'a race', keepMachines: true },
    async () => {},
  );

test('an activation whose key is replaced between look-up and lock is refused', async () => {
  const { license, licenseKey } = await one.issue();
  const holder = await one.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select from licenses where id = $1 for update', [license.id]);
    const rekeying = rekey(licenseKey);
    await waitForLocks(one.pool, 1);
    const activating = activateBy(licenseKey);
    await waitForLocks(one.pool, 2);
    await holder.query('commit');
    await rekeying;
    assert.equal((await activating).status, 404);
  } finally {
    holder.release();
  }
  assert.equal(await one.count('activations'), 0);
});

test('of several concurrent replacements of a key one succeeds, and the old key activates nothing', async () => {
  const { licenseKey } = await one.issue();
  const [rekeyed, answers] = await Promise.all([
    Promise.allSettled(Array.from({ length: 4 }, () => rekey(licenseKey))),
    runConcurrently(30, (index) => activateBy(licenseKey, index)),
  ]);
  assert.deepEqual(tally(rekeyed.map(({ status }) => status)), { fulfilled: 1, rejected: 3 });
  assert.ok(answers.every(({ status }) => [200, 404, 409].includes(status)));
  const after = await runConcurrently(5, (index) => activateBy(licenseKey, index));
  assert.deepEqual(tally(after.map(({ status }) => status)), { 404: 5 });
});

test('of several operators who replace a key at two processes one succeeds, and only its key activates', async () => {
  const { license, licenseKey } = await one.issue({ maxActivations: 100 });
  const body = { expected_version: 1, reason: 'a race', keep_machines: true, send_mail: false };
  const [rekeyed, answers] = await Promise.all([
    runConcurrently(4, (index) => browserOf(index).post(`${LICENSES}/${license.id}/rekey`, body)),
    runConcurrently(30, (index) => activateBy(licenseKey, index)),
  ]);
  assert.deepEqual(tally(rekeyed.map(({ status }) => status)), { 200: 1, 409: 3 });
  assert.ok(answers.every(({ status }) => [200, 404].includes(status)));
  const winner = rekeyed.find(({ status }) => status === 200) ?? assert.fail();
  const newKey = String(readBody(winner.body)['license_key']);
  const after = await runConcurrently(10, (index) =>
    activateBy(index < 5 ? licenseKey : newKey, index),
  );
  assert.deepEqual(
    after.map(({ status }) => status),
    [404, 404, 404, 404, 404, 200, 200, 200, 200, 200],
  );
});
