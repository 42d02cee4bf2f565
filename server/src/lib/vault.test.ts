import { strict as assert } from 'node:assert';
import { createHmac, hkdfSync } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  createHexHmac,
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

test('the HMAC is that of node:crypto for any key of up to a block and any text', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 64 }),
      fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 }),
      (key, texts) => {
        // Several texts one after the other: nothing of a longer one may be left behind for the next.
        const fast = createHexHmac(key);
        for (const text of texts) assert.equal(fast(text), hmac(key, text));
      },
    ),
  );
});

test('the HMAC is right on both sides of the length that fits its buffer', () => {
  const fast = createHexHmac(secret);
  for (const length of [0, 1, 55, 56, 63, 64, 340, 341, 342, 343, 1024, 5000]) {
    for (const character of ['a', 'é', '€', '𝄞']) {
      const text = character.repeat(length);
      assert.equal(fast(text), hmac(secret, text), `${length} times ${character}`);
    }
  }
});

test('the HMAC reproduces RFC 4231, test cases 1, 2 and 3', () => {
  assert.equal(
    createHexHmac(Buffer.alloc(20, 0x0b))('Hi There'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  );
  assert.equal(
    createHexHmac(Buffer.from('Jefe'))('what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
  assert.throws(() => createHexHmac(Buffer.alloc(65)), RangeError);
});

test('a look-up is hashed under the key derived for look-ups', () => {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'latchkey/v1/lookup', 32));
  const looked = '0000000000000000000000101';
  assert.equal(
    vault.hashLookup(looked),
    vault.secretId + hmac(key, looked).slice(SECRET_ID_DIGITS),
  );
});

test('the same text hashes differently for each purpose, label, name and secret', () => {
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

test('name and value never run into each other', () => {
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

test('a sealed text opens again, and never looks the same twice', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (text, aad) => {
      const sealed = vault.seal(text, aad);
      assert.equal(vault.open(sealed, aad), text);
      assert.notDeepEqual(vault.seal(text, aad), sealed);
    }),
  );
});

test('a sealed text does not open when any bit was changed', () => {
  const sealed = vault.seal('LK-00000', 'license:1');
  assert.equal(sealed.byteLength, 1 + 3 + 12 + 8 + 16);
  for (let bit = 0; bit < sealed.byteLength * 8; bit += 1) {
    const changed = Buffer.from(sealed);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => vault.open(changed, 'license:1'), `bit ${bit}`);
  }
});

test('a sealed text does not open elsewhere, cut short, or under another secret', () => {
  const sealed = vault.seal('LK-00000', 'license:1');
  assert.throws(() => vault.open(sealed, 'license:2'));
  assert.throws(() => createVault(Buffer.alloc(32, 'another')).open(sealed, 'license:1'));
  for (let length = 0; length < sealed.byteLength; length += 1) {
    assert.throws(() => vault.open(sealed.subarray(0, length), 'license:1'), `${length} bytes`);
  }
});

test('a secret may be a text, and a short one is refused', () => {
  const text = 'a'.repeat(MIN_MASTER_SECRET_BYTES);
  assert.equal(createVault(text).hashLookup('x'), createVault(Buffer.from(text)).hashLookup('x'));
  assert.throws(() => createVault(text.slice(1)), RangeError);
});

test('a hash and a sealed text name the master secret that made them', () => {
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

test('a vault with a previous secret opens and hashes under both, and seals under the new one only', () => {
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

test('a secret that is its own predecessor is refused', () => {
  assert.throws(() => createVault(secret, [secret]), RangeError);
});
