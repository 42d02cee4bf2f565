import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isCounterPlausible, relyingPartyOf } from './webauthn.ts';

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

test('a counter grows, unless the authenticator does not count or the passkey is synced', () => {
  for (const [stored, signCount, isSynced, expected] of [
    [0, 0, false, true],
    [0, 1, false, true],
    [7, 8, false, true],
    [7, 7, false, false],
    [7, 0, false, false],
    [7, 1, true, true],
  ] as const) {
    assert.equal(isCounterPlausible(stored, { signCount, isSynced }), expected);
  }
});
