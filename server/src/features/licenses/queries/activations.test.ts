import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { openTestPool } from '../../../../test/database-pool.ts';
import {
  bindMachine,
  deactivateActivation,
  insertActivation,
  listActivationsOf,
  listActiveActivations,
  refreshActivation,
} from './activations.ts';

const pool = await openTestPool();
const NOW = new Date('2027-03-01T12:00:00.000Z');

/** An activation of a license of its own. */
async function addActivation(machineId: string | null) {
  const change = {
    licenseId: randomUUID(),
    id: randomUUID(),
    machineId,
    identity: { strong: ['machineid:1'], medium: [], weak: [], digest: 'digest' },
    installId: randomUUID(),
    osVersion: '15.1',
    appVersion: '2.0',
    entitlementProof: 'proof',
  };
  await insertActivation(pool, change, NOW);
  const read = async () => (await listActivationsOf(pool, change.licenseId, 10))[0];
  return { change, read, licenseId: change.licenseId, id: change.id };
}

describe('bindMachine', () => {
  test('binds what is unbound, once: whoever comes later changes nothing', async () => {
    const { licenseId, id, read } = await addActivation(null);
    assert.equal(await bindMachine(pool, licenseId, id, 'first'), true);
    assert.equal(await bindMachine(pool, licenseId, id, 'second'), false);
    assert.equal(await bindMachine(pool, licenseId, id, 'first'), false);
    assert.equal((await read())?.machineId, 'first');
  });

  test('needs the license of the activation', async () => {
    const { id, read } = await addActivation(null);
    assert.equal(await bindMachine(pool, randomUUID(), id, 'stranger'), false);
    assert.equal((await read())?.machineId, null);
  });
});

describe('deactivateActivation', () => {
  test('frees a slot once; another machine cannot', async () => {
    const { licenseId, id, read } = await addActivation('bound');
    assert.equal(await deactivateActivation(pool, licenseId, id, 'another', NOW), false);
    assert.equal(await deactivateActivation(pool, licenseId, id, 'bound', NOW), true);
    const later = new Date(NOW.getTime() + 1);
    assert.equal(await deactivateActivation(pool, licenseId, id, 'bound', later), false);
    assert.deepEqual((await read())?.deactivatedAt, NOW);
    assert.deepEqual(await listActiveActivations(pool, licenseId), []);
  });

  test('while nothing is bound any machine can', async () => {
    const { licenseId, id } = await addActivation(null);
    assert.equal(await deactivateActivation(pool, licenseId, id, 'any', NOW), true);
  });
});

test('refreshActivation keeps what the machine no longer says, and the time of its activation', async () => {
  const { change, read } = await addActivation('bound');
  const before = await read();
  await refreshActivation(pool, {
    ...change,
    machineId: null,
    installId: null,
    osVersion: null,
    appVersion: '2.1',
    identity: { ...change.identity, digest: 'new' },
    entitlementProof: null,
  });
  assert.deepEqual(await read(), {
    ...before,
    appVersion: '2.1',
    identity: { ...change.identity, digest: 'new' },
    entitlementProof: null,
  });
});
