import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseEmail } from '@latchkey/contract';
import * as fc from 'fast-check';

import { createVault } from '#server/lib/vault.ts';

import { hashAddress, normalizeAddress } from './address-hash.ts';
import {
  makeUnsubscribeHeaders,
  makeUnsubscribeToken,
  readUnsubscribeToken,
} from './unsubscribe.ts';

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
  test(`${JSON.stringify(spelling)} is compared as ${address}`, () => {
    assert.equal(normalizeAddress(spelling), address);
  });
}

test('dots and what follows a plus make another address', () => {
  const hashes = [
    'ada.l@example.com',
    'adal@example.com',
    'ada+l@example.com',
    'ada@l.example.com',
  ];
  assert.equal(new Set(hashes.map((email) => hashAddress(vault, email))).size, hashes.length);
});

test('what is no address is refused', () => {
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

test('whatever is an address has a form to compare by', () => {
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

test('case, spaces around it and the form of Unicode make no other address', () => {
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

test('a token gives back the address that it was made for, and stands in a path as it is', () => {
  fc.assert(
    fc.property(address, (email) => {
      const token = makeUnsubscribeToken(vault, email);
      assert.match(token, /^[\w-]+$/u);
      assert.equal(readUnsubscribeToken(vault, token), parsed(email));
    }),
  );
});

function parsed(email: string): string {
  const result = parseEmail(email);
  if ('fault' in result) throw new Error(result.fault);
  return result.email;
}

const longest = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(59)}.example`;

test('the longest address has a token too', () => {
  assert.equal(longest.length, 254);
  const token = makeUnsubscribeToken(vault, longest);
  assert.equal(readUnsubscribeToken(vault, token), longest);
});

test('a token that was changed, sealed for something else or made elsewhere stands for nothing', () => {
  const token = makeUnsubscribeToken(vault, 'ada@example.com');
  const other = createVault('the master secret of another service');
  const strange = [
    '',
    'x',
    '%2e',
    `${token}=`,
    token.slice(0, -2),
    `${token.slice(0, 20)}${token[20] === 'A' ? 'B' : 'A'}${token.slice(21)}`,
    'A'.repeat(100_000),
    vault.seal('ada@example.com', 'license:1').toString('base64url'),
    vault.seal('not an address', 'unsubscribe').toString('base64url'),
    makeUnsubscribeToken(other, 'ada@example.com'),
  ];
  assert.deepEqual(
    strange.map((text) => readUnsubscribeToken(vault, text)),
    strange.map(() => null),
  );
});

test('the header fields are those of one-click unsubscription', () => {
  const config = { http: { publicUrl: 'https://license.example.com/latchkey' } };
  const fields = makeUnsubscribeHeaders({ vault, config }, 'ada@example.com');
  const url = /^<https:\/\/license\.example\.com\/latchkey\/u\/(?<token>[\w-]+)>$/u.exec(
    fields['List-Unsubscribe'],
  );
  assert.equal(readUnsubscribeToken(vault, url?.groups?.['token'] ?? ''), 'ada@example.com');
  assert.equal(fields['List-Unsubscribe-Post'], 'List-Unsubscribe=One-Click');
});
