import { strict as assert } from 'node:assert';
import { createHmac, hkdfSync } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  createVault,
  MIN_MASTER_SECRET_BYTES,
  SECRET_ID_DIGITS,
  UnknownSecretError,
} from './vault.ts';

const secret = Buffer.alloc(32, 'latchkey');
const vault = createVault(secret);

function hmac(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text, 'utf8').digest('hex');
}

test('hashes a look-up with HMAC-SHA256 and the key for look-ups', () => {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'latchkey/v1/lookup', 32));
  const looked = '0000000000000000000000101';
  assert.equal(
    vault.hashLookup(looked),
    vault.secretId + hmac(key, looked).slice(SECRET_ID_DIGITS),
  );
});

test('hashes the same text differently for each purpose, label, name and secret', () => {
  const other = createVault(Buffer.alloc(32, 'another'));
  const hashes = [
    vault.hashLookup('x'),
    other.hashLookup('x'),
    vault.hashComponent('mac', 'x'),
    vault.hashComponent('tpm', 'x'),
    vault.hashText('mac', 'x'),
    vault.hashText('email', 'x'),
    vault.hashText('', 'x'),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
});

test('hashes names and values without ambiguity', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.nat(), (name, value, cut) => {
      const joined = name + value;
      const at = cut % (joined.length + 1);
      fc.pre(at !== name.length);
      assert.notEqual(
        vault.hashComponent(joined.slice(0, at), joined.slice(at)),
        vault.hashComponent(name, value),
      );
    }),
  );
});

test('decrypts what it encrypted, with a different result each time', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (text, aad) => {
      const sealed = vault.seal(text, aad);
      assert.equal(vault.open(sealed, aad), text);
      assert.notDeepEqual(vault.seal(text, aad), sealed);
    }),
  );
});

test('does not decrypt after a change of any bit', () => {
  const sealed = vault.seal('LK-00000', 'license:1');
  assert.equal(sealed.byteLength, 1 + 3 + 12 + 8 + 16);
  for (let bit = 0; bit < sealed.byteLength * 8; bit += 1) {
    const changed = Buffer.from(sealed);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => vault.open(changed, 'license:1'), `bit ${bit}`);
  }
});

test('does not decrypt with another aad, truncated, or under another secret', () => {
  const sealed = vault.seal('LK-00000', 'license:1');
  assert.throws(() => vault.open(sealed, 'license:2'));
  assert.throws(() => createVault(Buffer.alloc(32, 'another')).open(sealed, 'license:1'));
  for (let length = 0; length < sealed.byteLength; length += 1) {
    assert.throws(() => vault.open(sealed.subarray(0, length), 'license:1'), `${length} bytes`);
  }
});

test('accepts a text as secret, and rejects a short one', () => {
  const text = 'a'.repeat(MIN_MASTER_SECRET_BYTES);
  assert.equal(createVault(text).hashLookup('x'), createVault(Buffer.from(text)).hashLookup('x'));
  assert.throws(() => createVault(text.slice(1)), RangeError);
});

test('hashes and encrypted texts contain the id of their master secret', () => {
  const other = createVault(Buffer.alloc(32, 'another'));
  assert.match(vault.secretId, /^[\da-f]{6}$/);
  assert.notEqual(other.secretId, vault.secretId);
  for (const hash of [
    vault.hashLookup('x'),
    vault.hashComponent('a', 'x'),
    vault.hashText('a', 'x'),
  ]) {
    assert.match(hash, /^[\da-f]{64}$/);
    assert.ok(hash.startsWith(vault.secretId));
  }
  assert.equal(vault.isCurrent(vault.seal('x', 'y')), true);
  assert.equal(vault.isCurrent(other.seal('x', 'y')), false);
});

test('decrypts and hashes under current and previous secrets, and encrypts under the current one', () => {
  const other = createVault(Buffer.alloc(32, 'another'));
  const both = createVault(Buffer.alloc(32, 'another'), [secret]);
  const sealed = vault.seal('LK-00000', 'license:1');
  assert.equal(both.open(sealed, 'license:1'), 'LK-00000');
  assert.equal(both.isCurrent(sealed), false);
  assert.throws(() => both.open(sealed, 'license:2'));
  assert.equal(other.open(both.seal('x', 'y'), 'y'), 'x');
  assert.equal(both.hashLookup('x'), other.hashLookup('x'));
  assert.deepEqual(
    both.previous.map((hashes) => hashes.hashLookup('x')),
    [vault.hashLookup('x')],
  );
  assert.throws(() => other.open(sealed, 'license:1'), UnknownSecretError);
});

test('rejects a secret that equals a previous one', () => {
  assert.throws(() => createVault(secret, [secret]), RangeError);
});
