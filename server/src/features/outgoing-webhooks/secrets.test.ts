import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createVault } from '#server/lib/vault.ts';

import { openSecrets, sealPreviousSecret, sealSecret } from './secrets.ts';

const vault = createVault('a master secret for these tests alone');
const now = new Date('2026-03-01T12:00:00Z');
const until = new Date('2026-03-02T12:00:00Z');

const endpoint = {
  id: 'one',
  secretSealed: sealSecret(vault, 'one', 'whsec_new'),
  previousSecretSealed: sealPreviousSecret(vault, 'one', 'whsec_old', until),
  previousSecretUntil: until,
};

test('the previous secret signs until it expires', () => {
  assert.deepEqual(openSecrets(vault, endpoint, now), ['whsec_new', 'whsec_old']);
  assert.deepEqual(openSecrets(vault, endpoint, until), ['whsec_new']);
});

test('opens a sealed secret only for its endpoint, purpose and expiry', () => {
  const later = new Date(until.getTime() + 1);
  const { secretSealed, previousSecretSealed } = endpoint;
  const changes = [
    { id: 'two' },
    { secretSealed: previousSecretSealed },
    { previousSecretSealed: secretSealed },
    { previousSecretUntil: later },
  ];
  for (const change of changes) {
    assert.throws(
      () => openSecrets(vault, { ...endpoint, ...change }, now),
      Object.keys(change)[0],
    );
  }
});
