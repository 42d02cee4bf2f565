import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { openTestPool } from '../../../../test/database-pool.ts';
import { decideActivation } from '../rules/decide-activation.ts';
import { perpetual } from '../rules/standing.fixture.ts';
import {
  countActiveActivations,
  deactivateActivation,
  insertActivation,
  listActivationsOf,
  listActiveRelatives,
  refreshActivation,
} from './activations.ts';

const pool = await openTestPool();
const NOW = new Date('2027-03-01T12:00:00.000Z');

const nothingKnown = {
  machineId: null,
  installId: null,
  osVersion: null,
  appVersion: null,
  entitlementProof: null,
};

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

describe('deactivateActivation', () => {
  test('frees a slot once; another machine cannot', async () => {
    const { licenseId, id, read } = await addActivation('bound');
    assert.equal(await deactivateActivation(pool, licenseId, id, 'another', NOW), false);
    assert.equal(await deactivateActivation(pool, licenseId, id, 'bound', NOW), true);
    const later = new Date(NOW.getTime() + 1);
    assert.equal(await deactivateActivation(pool, licenseId, id, 'bound', later), false);
    assert.deepEqual((await read())?.deactivatedAt, NOW);
    assert.equal(await countActiveActivations(pool, licenseId), 0);
  });

  test('while nothing is bound any machine can', async () => {
    const { licenseId, id } = await addActivation(null);
    assert.equal(await deactivateActivation(pool, licenseId, id, 'any', NOW), true);
  });
});

test('refreshActivation keeps what the machine no longer says, and the time of its activation', async () => {
  const { change, read } = await addActivation('bound');
  const before = await read();
  const refreshedAt = new Date('2027-02-03T04:05:06Z');
  await refreshActivation(
    pool,
    {
      ...change,
      machineId: null,
      installId: null,
      osVersion: null,
      appVersion: '2.1',
      identity: { ...change.identity, digest: 'new' },
      entitlementProof: null,
    },
    refreshedAt,
  );
  assert.deepEqual(await read(), {
    ...before,
    appVersion: '2.1',
    versionsReportedAt: refreshedAt,
    identity: { ...change.identity, digest: 'new' },
    entitlementProof: null,
  });
});

/** Machines of few parts and few values, so that they agree often. */
const anyIdentity = fc.record({
  strong: fc.subarray(['machineid:1', 'machineid:2', 'deviceid:1']),
  medium: fc.subarray(['tpm:1', 'tpm:2', 'diskserial:1', 'mac:1', 'mac:2']),
  weak: fc.subarray(['c0ffee00:1', 'c0ffee00:2', 'decade00:1']),
  digest: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
});

test('what is decided over the relatives of a machine is what is decided over all machines', async () => {
  const count = fc.integer({ min: 1, max: 8 });
  const machines = fc.array(anyIdentity, { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(machines, anyIdentity, count, async (stored, presented, maxActivations) => {
      const licenseId = randomUUID();
      const all = stored.map((identity) => ({ activationId: randomUUID(), identity }));
      for (const [index, { activationId, identity }] of all.entries()) {
        const change = { ...nothingKnown, licenseId, id: activationId, identity };
        await insertActivation(pool, change, new Date(NOW.getTime() + index));
      }
      const activeCount = await countActiveActivations(pool, licenseId);
      const relatives = await listActiveRelatives(pool, licenseId, presented);
      const candidates = relatives.map(({ id, identity }) => ({ activationId: id, identity }));
      const license = { ...perpetual, maxActivations };
      assert.deepEqual(
        decideActivation(license, activeCount, candidates, presented, NOW),
        decideActivation(license, all.length, all, presented, NOW),
      );
    }),
    { numRuns: 100 },
  );
});

test('a machine on a license with 20,000 others finds its relatives without reading them all', async () => {
  const licenseId = randomUUID();
  await pool.query(
    `insert into activations (license_id, id, components, machine_digest, activated_at, last_validated_at,
                              versions_reported_at)
     select $1, gen_random_uuid(),
            jsonb_build_object('strong', jsonb_build_array('machineid:' || i),
                               'medium', jsonb_build_array('tpm:' || i, 'diskserial:' || i), 'weak', '[]'::jsonb),
            'digest ' || i, $2, $2, $2
     from generate_series(1, 20000) as i`,
    [licenseId, NOW],
  );
  const presented = {
    strong: [],
    medium: ['tpm:7', 'diskserial:9'],
    weak: [],
    digest: 'digest 11',
  };
  const relatives = await listActiveRelatives(pool, licenseId, presented);
  const digests = relatives.map(({ identity }) => identity.digest).sort();
  assert.deepEqual(digests, ['digest 11', 'digest 7', 'digest 9']);
  assert.equal(await countActiveActivations(pool, licenseId), 20_000);
});
