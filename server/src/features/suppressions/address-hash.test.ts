import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseEmail } from '@latchkey/contract';
import * as fc from 'fast-check';

import { createVault } from '#server/lib/vault.ts';

import { hashAddress, normalizeAddress } from './address-hash.ts';

const vault = createVault('a master secret for these tests alone');

const spellings: readonly (readonly [string, string])[] = [
  ['ada@example.com', 'ada@example.com'],
  [' Ada.Lovelace@EXAMPLE.Com\n', 'ada.lovelace@example.com'],
  ['Ada+News@example.com', 'ada+news@example.com'],
  ['ada@Bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@XN--BCHER-KVA.example', 'ada@xn--bcher-kva.example'],
  ['ada@straße.example', 'ada@xn--strae-oqa.example'],
  ['JU\u0308RGEN@example.com', 'jürgen@example.com'],
];

for (const [spelling, address] of spellings) {
  test(`normalizes ${JSON.stringify(spelling)} to ${address}`, () => {
    assert.equal(normalizeAddress(spelling), address);
  });
}

test('keeps dots and plus tags apart', () => {
  const hashes = [
    'ada.l@example.com',
    'adal@example.com',
    'ada+l@example.com',
    'ada@l.example.com',
  ];
  assert.equal(new Set(hashes.map((email) => hashAddress(vault, email))).size, hashes.length);
});

test('rejects an invalid address', () => {
  assert.throws(() => hashAddress(vault, 'Ada <ada@example.com>'), RangeError);
});

const localPart = fc
  .array(fc.stringMatching(/^[A-Za-z0-9àéüñÀÉÜÑжЖ_+-]{1,8}$/u), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join('.'));
const domain = fc
  .array(fc.stringMatching(/^[a-zA-Z0-9äöüÄÖÜ]{1,10}$/u), { minLength: 1, maxLength: 3 })
  .map((labels) => [...labels, 'example'].join('.'));
const address = fc
  .tuple(localPart, domain)
  .map(([local, host]) => `${local}@${host}`)
  .filter((email) => 'email' in parseEmail(email));

test('normalizes every valid address', () => {
  const label = fc.stringMatching(/^(?:0x|xn--)?[a-fxé0-9-]{1,5}$/u);
  fc.assert(
    fc.property(fc.array(label, { minLength: 2, maxLength: 3 }), (labels) => {
      const email = `a@${labels.join('.')}`;
      fc.pre('email' in parseEmail(email));
      assert.equal(normalizeAddress(normalizeAddress(email)), normalizeAddress(email));
    }),
    { numRuns: 5_000 },
  );
});

test('ignores case, surrounding spaces and the Unicode form', () => {
  fc.assert(
    fc.property(address, (email) => {
      const normal = normalizeAddress(email);
      const others = [
        email.toUpperCase(),
        email.toLowerCase(),
        ` ${email}\t`,
        email.normalize('NFD'),
      ];
      for (const other of others) assert.equal(normalizeAddress(other), normal);
      assert.equal(normalizeAddress(normal), normal);
      assert.match(normal.slice(normal.lastIndexOf('@')), /^@[a-z0-9.-]+$/u);
    }),
  );
});
