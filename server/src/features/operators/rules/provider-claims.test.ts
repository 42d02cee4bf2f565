import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readIdentity } from './provider-claims.ts';

const RULES = [
  { role: 'admin', value: 'Anna@example.com' },
  { role: 'support', value: 'helpdesk' },
  { role: 'viewer', value: 'everybody' },
] as const;

const claims = { iss: 'https://login.example.com', sub: '7', email_verified: true };

const read = (more: Readonly<Record<string, unknown>>) =>
  readIdentity({ ...claims, ...more }, 'groups', RULES);

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
  const expected = new Date('2026-11-20T10:00:00.000Z');
  assert.deepEqual(read({ auth_time: expected.getTime() / 1000 }).signedInAt, expected);
  assert.equal(read({ auth_time: 'yesterday' }).signedInAt, null);
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
