import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { openTestPool } from '../../../../test/database-pool.ts';
import { decideActivation } from '../rules/decide-activation.ts';
import { perpetual } from '../rules/status-facts.fixture.ts';
import {
  countActiveActivations,
  deactivateActivation,
  insertActivations,
  listActivationsOf,
  listCandidateActivations,
  refreshActivation,
} from './activations.ts';

const pool = await openTestPool();
const NOW = new Date('2027-03-01T12:00:00.000Z');

const noDetails = {
  machineId: null,
  installId: null,
  osVersion: null,
  appVersion: null,
  entitlementProof: null,
};

/** Adds an activation of a new license. */
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
  await insertActivations(pool, [change], NOW);
  const read = async () => (await listActivationsOf(pool, change.licenseId, 10))[0];
  return { change, read, licenseId: change.licenseId, id: change.id };
}

describe('deactivateActivation', () => {
  test('deactivates once, and only for the bound machine', async () => {
    const { licenseId, id, read } = await addActivation('bound');
    assert.equal(await deactivateActivation(pool, licenseId, id, 'another', NOW), false);
    assert.equal(await deactivateActivation(pool, licenseId, id, 'bound', NOW), true);
    const later = new Date(NOW.getTime() + 1);
    assert.equal(await deactivateActivation(pool, licenseId, id, 'bound', later), false);
    assert.deepEqual((await read())?.deactivatedAt, NOW);
    assert.equal(await countActiveActivations(pool, licenseId), 0);
  });

  test('accepts any machine while none is bound', async () => {
    const { licenseId, id } = await addActivation(null);
    assert.equal(await deactivateActivation(pool, licenseId, id, 'any', NOW), true);
  });
});

test('refreshActivation keeps values that the client omits, and the time of the activation', async () => {
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

/** Machines with few components and values, so that they match often. */
const anyIdentity = fc.record(
  {
    strong: fc.subarray(['machineid:1', 'machineid:2', 'deviceid:1']),
    medium: fc.subarray(['tpm:1', 'tpm:2', 'diskserial:1', 'mac:1', 'mac:2']),
    weak: fc.subarray(['c0ffee00:1', 'c0ffee00:2', 'decade00:1']),
    digest: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  },
  { noNullPrototype: true },
);

test('the candidates of a machine lead to the same decision as all machines', async () => {
  const count = fc.integer({ min: 1, max: 8 });
  const machines = fc.array(anyIdentity, { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(machines, anyIdentity, count, async (stored, presented, maxActivations) => {
      const licenseId = randomUUID();
      const all = stored.map((identity) => ({ activationId: randomUUID(), identity }));
      for (const [index, { activationId, identity }] of all.entries()) {
        const change = { ...noDetails, licenseId, id: activationId, identity };
        await insertActivations(pool, [change], new Date(NOW.getTime() + index));
      }
      const activeCount = await countActiveActivations(pool, licenseId);
      const listed = await listCandidateActivations(pool, licenseId, presented);
      const candidates = listed.map(({ id, identity }) => ({ activationId: id, identity }));
      const license = { ...perpetual, maxActivations };
      assert.deepEqual(
        decideActivation(license, activeCount, candidates, presented, NOW),
        decideActivation(license, all.length, all, presented, NOW),
      );
    }),
    { numRuns: 100 },
  );
});

test('listCandidateActivations returns only candidates from a license with 20,000 machines', async () => {
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
  const candidates = await listCandidateActivations(pool, licenseId, presented);
  const digests = candidates.map(({ identity }) => identity.digest).sort();
  assert.deepEqual(digests, ['digest 11', 'digest 7', 'digest 9']);
  assert.equal(await countActiveActivations(pool, licenseId), 20_000);
});
