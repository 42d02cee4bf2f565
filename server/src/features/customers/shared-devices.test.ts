import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { startTestService } from '../../../test/harness.ts';
import { findSharedDevices } from './find-person.ts';
import { findMachines } from './queries/find-person.ts';
import { selectDevices } from './rules/select-devices.ts';

const service = await startTestService();
const { pool } = service;

/** The licenses by their names: two of the person, two of others, and two trials without a customer. */
const LICENSES = ['own', 'own too', 'other', 'another', 'trial', 'another trial'] as const;
type LicenseName = (typeof LICENSES)[number];

const INSTALLS = [randomUUID(), randomUUID(), randomUUID()];
const MACHINES = ['machine 1', 'machine 2', `${'long '.repeat(60)}1`, `${'long '.repeat(60)}2`];
const DIGESTS = ['digest 1', 'digest 2'];
const DATES = ['2020-01-01', '2026-11-20'];

const ids = new Map<LicenseName, string>();
for (const name of LICENSES) {
  const { license } = await service.issue();
  ids.set(name, license.id);
  await pool.query('update licenses set trial = $2 where id = $1', [license.id, isTrial(name)]);
}

function isTrial(name: LicenseName): boolean {
  return name.includes('trial');
}

interface TestActivation {
  readonly license: LicenseName;
  readonly installId: string | null;
  readonly machineId: string | null;
  readonly digest: string;
  readonly deactivatedAt: string | null;
}

const activation: fc.Arbitrary<TestActivation> = fc.record({
  license: fc.constantFrom(...LICENSES),
  installId: fc.constantFrom(...INSTALLS, null),
  machineId: fc.constantFrom(...MACHINES, null),
  digest: fc.constantFrom(...DIGESTS),
  deactivatedAt: fc.constantFrom(...DATES, null),
});

async function replaceActivations(activations: readonly TestActivation[]): Promise<void> {
  const column = (read: (each: TestActivation) => string | null) => activations.map(read);
  await pool.query('delete from activations');
  await pool.query(
    `insert into activations (license_id, id, components, machine_digest, install_id, machine_id, versions_reported_at,
                              activated_at, deactivated_at, last_validated_at)
     select license, gen_random_uuid(), '{}', digest, install, machine, '2020-01-01', '2020-01-01', ended, '2020-01-01'
     from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::timestamptz[])
            as added (license, digest, install, machine, ended)`,
    [
      column(({ license }) => ids.get(license) ?? null),
      column(({ digest }) => digest),
      column(({ installId }) => installId),
      column(({ machineId }) => machineId),
      column(({ deactivatedAt }) => deactivatedAt),
    ],
  );
}

/** What is shared, by the definition: activations of others at any time, without trials on the person's machines. */
function expectShared(activations: readonly TestActivation[]) {
  const own = activations.filter(({ license }) => license.startsWith('own'));
  const others = activations.filter((each) => !own.includes(each));
  const isOnOwnMachine = ({ machineId, digest }: TestActivation) =>
    own.some(
      (each) => each.digest === digest || (machineId !== null && each.machineId === machineId),
    );
  const countOthers = (rows: readonly TestActivation[]) =>
    new Set(rows.map(({ license }) => license)).size;
  const listShared = (
    read: (each: TestActivation) => string | null,
    counts: (each: TestActivation) => boolean,
  ) =>
    [...new Set(own.map(read))]
      .filter((id) => id !== null)
      .map((id) => ({ id, rows: others.filter((each) => read(each) === id && counts(each)) }))
      .filter(({ rows }) => rows.length > 0)
      .map(({ id, rows }) => ({ id, otherLicenses: countOthers(rows) }));
  return {
    installs: listShared(
      ({ installId }) => installId,
      (each) => !isTrial(each.license) || !isOnOwnMachine(each),
    ),
    machines: listShared(
      ({ machineId }) => machineId,
      (each) => !isTrial(each.license),
    ),
  };
}

const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1);

test('finds exactly the installs and machines on which licenses of others were activated', async () => {
  const owned = [ids.get('own') ?? '', ids.get('own too') ?? ''];
  await fc.assert(
    fc.asyncProperty(fc.array(activation, { maxLength: 8 }), async (activations) => {
      await replaceActivations(activations);
      const devices = await findMachines(pool, owned);
      const { sharedInstalls, sharedMachines } = await findSharedDevices(pool, devices);
      const expected = expectShared(activations);
      assert.deepEqual(sharedInstalls.toSorted(byId), expected.installs.toSorted(byId));
      assert.deepEqual(sharedMachines.toSorted(byId), expected.machines.toSorted(byId));
    }),
    { numRuns: 150 },
  );
});

test('selects devices of the person only, and shared ones only if they are included', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd');
  fc.assert(
    fc.property(fc.uniqueArray(id), fc.uniqueArray(id), fc.array(id), (own, others, included) => {
      const shared = own
        .filter((each) => others.includes(each))
        .map((each) => ({ id: each, otherLicenses: 1 }));
      assert.deepEqual(
        selectDevices(own, shared, included),
        own.filter((each) => !others.includes(each) || included.includes(each)),
      );
      assert.deepEqual(selectDevices(own, shared, 'all'), own);
    }),
  );
});
