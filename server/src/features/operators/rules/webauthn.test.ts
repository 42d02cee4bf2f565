import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isUsePlausible, relyingPartyOf } from './webauthn.ts';

test('passkeys belong to the host of an https URL, or of localhost', () => {
  for (const [url, id] of [
    ['https://license.example.com', 'license.example.com'],
    ['https://license.example.com:8443', 'license.example.com'],
    ['http://localhost:8080', 'localhost'],
    ['http://127.0.0.1:8080', null],
    ['https://192.0.2.7', null],
    ['https://[2001:db8::7]', null],
    ['http://license.example.com', null],
  ] as const) {
    const party = relyingPartyOf(url);
    assert.deepEqual(party, id === null ? null : { id, origin: new URL(url).origin }, url);
  }
});

const PLAIN = { isBackupEligible: false, isSynced: false };
const ELIGIBLE = { isBackupEligible: true, isSynced: false };
const SYNCED = { isBackupEligible: true, isSynced: true };

test('a counter grows, unless the authenticator does not count or the passkey is synced', () => {
  for (const [isBackupEligible, signCount, use, count, expected] of [
    [false, 0, PLAIN, 0, true],
    [false, 0, PLAIN, 1, true],
    [false, 7, PLAIN, 8, true],
    [false, 7, PLAIN, 7, false],
    [false, 7, PLAIN, 0, false],
    [true, 7, ELIGIBLE, 8, true],
    [true, 7, ELIGIBLE, 7, false],
    [true, 7, SYNCED, 1, true],
  ] as const) {
    const stored = { isBackupEligible, signCount };
    assert.equal(isUsePlausible(stored, { ...use, signCount: count }), expected);
  }
});

test('whether a passkey may be synced never changes', () => {
  for (const [isBackupEligible, use] of [
    [false, ELIGIBLE],
    [false, SYNCED],
    [true, PLAIN],
  ] as const) {
    const stored = { isBackupEligible, signCount: 0 };
    assert.equal(isUsePlausible(stored, { ...use, signCount: 1 }), false);
  }
});

test('where it is not stored whether a passkey may be synced, its counter grows in any case', () => {
  const stored = { isBackupEligible: null, signCount: 7 };
  for (const use of [PLAIN, ELIGIBLE, SYNCED]) {
    assert.equal(isUsePlausible(stored, { ...use, signCount: 8 }), true);
    assert.equal(isUsePlausible(stored, { ...use, signCount: 3 }), false);
    const uncounted = { isBackupEligible: null, signCount: 0 };
    assert.equal(isUsePlausible(uncounted, { ...use, signCount: 0 }), true);
  }
});
