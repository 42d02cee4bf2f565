import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createVault } from '#server/lib/vault.ts';

import { toAddress } from '../find-person.ts';
import { mentionsPerson } from './mentions.ts';

const vault = createVault('a master secret for the tests alone');
const ann = {
  address: toAddress(vault, 'Ann@Example.com'),
  customers: [
    { provider: 'paddle', customerId: 'ctm_01hv8x29kz0t586xy6zn1a62ny' },
    { provider: 'lemon_squeezy', customerId: '12345' },
  ],
};

const mentions = (body: unknown, provider = 'paddle', who = ann) =>
  mentionsPerson(
    Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    provider,
    who,
  );

test('a body mentions a person by the address, in any case and place', () => {
  for (const body of [
    { data: { customer: { email: 'ANN@example.com' } } },
    { data: [{ note: 'From Ann <ann@example.com>.' }] },
    'not JSON, but ann@example.com is in it',
  ]) {
    assert.equal(mentions(body), true, JSON.stringify(body));
  }
});

test('a body does not mention a person by an address that only contains hers', () => {
  for (const email of ['joann@example.com', 'ann@example.com.au', 'ann+1@example.com']) {
    assert.equal(mentions({ email }), false, email);
  }
});

test('a body mentions a person by a customer id of the same provider', () => {
  const { customerId = '' } = ann.customers[0] ?? {};
  assert.equal(mentions({ data: { id: customerId } }), true);
  assert.equal(mentions({ data: { id: customerId } }, 'stripe'), false);
  assert.equal(mentions({ data: { customer_id: 12_345 } }, 'lemon_squeezy'), true);
});

test('a number that equals a customer id is not a mention', () => {
  assert.equal(mentions({ data: { total: 12_345, id: '12345' } }, 'lemon_squeezy'), false);
});

test('both forms of an international domain are one address', () => {
  const who = { address: toAddress(vault, 'ann@bücher.example'), customers: [] };
  for (const email of ['ann@bücher.example', 'Ann@xn--bcher-kva.example']) {
    assert.equal(mentions({ email }, 'paddle', who), true, email);
  }
});
