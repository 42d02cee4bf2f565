import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readIdentity } from './provider-claims.ts';

const RULES = [
  { role: 'admin', value: 'Anna@example.com' },
  { role: 'support', value: 'helpdesk' },
  { role: 'viewer', value: 'everybody' },
] as const;

const claims = { iss: 'https://login.example.com', sub: '7', email_verified: true };

const NOW = Date.UTC(2026, 10, 20, 10) / 1000;

const read = (more: Readonly<Record<string, unknown>>) =>
  readIdentity({ ...claims, ...more }, 'groups', RULES, NOW);

test('names a person by issuer and subject', () => {
  assert.deepEqual(read({ email: 'ben@example.com', name: ' Ben ', groups: ['helpdesk'] }), {
    subject: 'https://login.example.com 7',
    email: 'ben@example.com',
    name: 'Ben',
    role: 'support',
    signedInAt: null,
  });
});

test('reads when the person signed in at the provider', () => {
  for (const seconds of [NOW - 86_400, NOW, NOW + 30]) {
    assert.deepEqual(read({ auth_time: seconds }).signedInAt, new Date(seconds * 1000));
  }
});

test('ignores a time that is invalid, or later than the clocks may differ', () => {
  for (const seconds of ['yesterday', String(NOW), null, Number.NaN, -1, 1e300, NOW + 31]) {
    assert.equal(read({ auth_time: seconds }).signedInAt, null, String(seconds));
  }
});

test('returns the highest role of a verified address and of the values of the claim', () => {
  for (const [more, role] of [
    [{ email: 'ANNA@example.com', groups: ['helpdesk'] }, 'admin'],
    [{ email: 'anna@example.com', email_verified: false, groups: ['everybody'] }, 'viewer'],
    [{ email: 'anna@example.com', email_verified: 'true' }, null],
    [{ groups: 'helpdesk' }, 'support'],
    [{ groups: ['everybody', 'helpdesk'] }, 'support'],
    [{ groups: ['Helpdesk', 'anna@example.com', 7, null] }, null],
    [{ groups: { helpdesk: true } }, null],
    [{}, null],
  ] as const) {
    assert.equal(read(more).role, role, JSON.stringify(more));
  }
});

test('ignores an address and a name that cannot be stored or shown', () => {
  assert.equal(read({ email: 'ben@corp.local' }).email, 'ben@corp.local');
  for (const email of [
    '',
    'anna',
    'a b@example.com',
    'x@example.com sudo:root',
    'a\0@example.com',
    7,
  ]) {
    assert.equal(read({ email }).email, null, String(email));
  }
  for (const name of ['', '  ', 'a\0b', 7]) assert.equal(read({ name }).name, null, String(name));
  assert.equal(read({ name: 'x'.repeat(300) }).name?.length, 200);
});
