import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createVault } from '#server/lib/vault.ts';
import { isSameMachine, hashIdentity, type HashedIdentity, trialClaims } from './identity.ts';
import { readFingerprint } from './read-fingerprint.ts';

const vault = createVault(Buffer.alloc(32, 'fingerprint'));

type Fingerprint = Readonly<Record<string, unknown>>;

function hashed(fingerprint: Fingerprint): HashedIdentity {
  const reading = readFingerprint(fingerprint);
  assert.ok(reading.ok);
  return hashIdentity(vault, reading.identity);
}

function isSame(stored: Fingerprint, presented: Fingerprint): boolean {
  return isSameMachine(hashed(stored), hashed(presented));
}

function sharesTrial(one: HashedIdentity, other: HashedIdentity): boolean {
  const claims = new Set(trialClaims(other));
  return trialClaims(one).some((claim) => claims.has(claim));
}

/** Fingerprints with few keys and few values, so that they agree often. */
const anyFingerprint = fc.record(
  {
    machine_id: fc.constantFrom('m1', 'm2', ''),
    hardware_uuid: fc.constantFrom('h1', 'h2'),
    disk_serial: fc.constantFrom('d1', 'd2'),
    tpm: fc.constantFrom('t1', 't2'),
    macs: fc.subarray(['00:1b:21:00:00:01', '00:1b:21:00:00:02', '00:1b:21:00:00:03']),
    color: fc.constantFrom('red', 'blue'),
    size: fc.constantFrom(1, 2),
    hostname: fc.constantFrom('a', 'b'),
    os_version: fc.constant('14'),
  },
  { requiredKeys: ['os_version'] },
);

test('one matching strong component is enough', () => {
  assert.ok(isSame({ machine_id: 'M', tpm: 'a' }, { machineId: 'm ', tpm: 'b', color: 'red' }));
  assert.ok(isSame({ machine_id: 'm', device_id: 'x' }, { machine_id: 'n', device_id: 'x' }));
  assert.ok(!isSame({ machine_id: 'm' }, { machine_id: 'n' }));
  assert.ok(!isSame({ machine_id: 'x' }, { device_id: 'x' }));
});

test('without a strong component two must match, one of them medium', () => {
  assert.ok(isSame({ tpm: 't', color: 'red' }, { tpm: 't', color: 'red', size: 1 }));
  assert.ok(isSame({ tpm: 't', disk_serial: 'd' }, { tpm: 't', disk_serial: 'd', x: 1 }));
  assert.ok(!isSame({ tpm: 't' }, { tpm: 't', color: 'red' }));
  assert.ok(!isSame({ color: 'red', size: 1 }, { color: 'red', size: 1, x: 1 }));
});

test('at least half of the comparable components must match, including strong ones', () => {
  const stored = { tpm: 't', color: 'red', size: 1, a: 1 };
  assert.ok(isSame(stored, { tpm: 't', color: 'red', size: 2, a: 2 }));
  assert.ok(!isSame({ ...stored, b: 1 }, { tpm: 't', color: 'red', size: 2, a: 2, b: 2 }));
  assert.ok(isSame({ ...stored, b: 1 }, { tpm: 't', color: 'red', size: 2, a: 2, c: 2 }));
  assert.ok(isSame({ ...stored, machine_id: 'm' }, { ...stored, machine_id: 'n' }));
  const cloned = { machine_id: 'm', hardware_uuid: 'h', system_uuid: 's', tpm: 't', color: 'red' };
  const other = { machine_id: 'n', hardware_uuid: 'i', system_uuid: 'r', tpm: 't', color: 'red' };
  assert.ok(!isSame(cloned, other));
});

test('an added or removed hardware address does not change the machine', () => {
  const laptop = { macs: ['00:1b:21:00:00:01'], color: 'red' };
  const docked = { macs: ['00:1b:21:00:00:01', '00:1b:21:00:00:02'], color: 'red' };
  assert.ok(isSame(laptop, docked));
  assert.ok(isSame(docked, laptop));
});

test('machines without a usable component match only when identical', () => {
  assert.ok(isSame({ hostname: 'pc', ip: '1' }, { ip: '1', hostname: 'pc' }));
  assert.ok(!isSame({ hostname: 'pc' }, { hostname: 'pc2' }));
  assert.ok(isSame({ color: 'red' }, { Color: ' RED', hostname: 'pc' }));
  assert.ok(!isSame({ color: 'red' }, { color: 'blue' }));
});

test('isSameMachine is reflexive and symmetric', () => {
  fc.assert(
    fc.property(anyFingerprint, anyFingerprint, (one, other) => {
      assert.ok(isSame(one, one));
      assert.equal(isSame(one, other), isSame(other, one));
    }),
    { numRuns: 500 },
  );
});

test('stored identities contain no value of the fingerprint', () => {
  const identity = hashed({ machine_id: 'secret-1', disk_serial: 'secret-2', note: 'secret-3' });
  const stored = JSON.stringify(identity);
  assert.ok(!stored.includes('secret') && !stored.includes('note'));
  assert.match(identity.strong.join(), /^machineid:[0-9a-f]{32}$/);
  assert.match(identity.medium.join(), /^diskserial:[0-9a-f]{32}$/);
  assert.match(identity.weak.join(), /^[0-9a-f]{8}:[0-9a-f]{32}$/);
  assert.match(identity.digest, /^[0-9a-f]{32}$/);
});

test('another secret results in entirely different hashes', () => {
  const reading = readFingerprint({ machine_id: 'm', tpm: 't', color: 'red' });
  assert.ok(reading.ok);
  const other = hashIdentity(createVault(Buffer.alloc(32, 'other')), reading.identity);
  assert.ok(!isSameMachine(hashed({ machine_id: 'm', tpm: 't', color: 'red' }), other));
});

function shares(one: Fingerprint, other: Fingerprint): boolean {
  return sharesTrial(hashed(one), hashed(other));
}

test('a trial is shared when a strong or two medium components match, or all', () => {
  assert.ok(shares({ machine_id: 'm', tpm: 'a' }, { machine_id: 'm', tpm: 'b' }));
  assert.ok(shares({ machine_id: 'm', tpm: 't', cpu_id: 'c' }, { tpm: 't', cpu_id: 'c' }));
  assert.ok(!shares({ machine_id: 'm', tpm: 't', a: 1 }, { machine_id: 'n', tpm: 't', a: 1 }));
  assert.ok(!shares({ color: 'red', size: 1 }, { color: 'red', size: 1, x: 1 }));
  assert.ok(shares({ color: 'red' }, { color: 'red', ip: '1' }));
});

function countShared(one: readonly string[], other: readonly string[]): number {
  return one.filter((component) => other.includes(component)).length;
}

test('claims intersect exactly when the rule for trials matches', () => {
  fc.assert(
    fc.property(anyFingerprint, anyFingerprint, (first, second) => {
      const one = hashed(first);
      const other = hashed(second);
      const expected =
        countShared(one.strong, other.strong) > 0 ||
        countShared(one.medium, other.medium) > 1 ||
        one.digest === other.digest;
      assert.equal(sharesTrial(one, other), expected);
    }),
    { numRuns: 1000 },
  );
});

test('claims are sorted, unique, and bounded for any number of addresses', () => {
  const macs = Array.from({ length: 30 }, (_, index) => `00:1b:21:00:01:${10 + index}`);
  const parts = { board_serial: '1', disk_serial: '2', bios_serial: '3', tpm: '4', cpu_id: '5' };
  const claims = trialClaims(hashed({ macs, machine_id: 'm', ...parts }));
  assert.equal(claims.length, 1 + 78 + 1);
  assert.deepEqual(claims, [...new Set(claims)].sort());
  for (const claim of claims) assert.match(claim, /^[0-9a-f]{32}$/);
  // The pairs contain the serial numbers and every used address, for any number of addresses.
  assert.ok(sharesTrial(hashed({ macs, ...parts }), hashed({ tpm: '4', cpu_id: '5' })));
  for (const kept of macs.slice(0, 8)) {
    assert.ok(sharesTrial(hashed({ macs, ...parts }), hashed({ macs: [kept], tpm: '4' })), kept);
  }
});
