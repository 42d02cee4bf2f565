import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { isTimely, matchesHmac, readHeader, readSignature, readUnixTime } from './signatures.ts';

function sign(secret: string, message: string): Buffer {
  return createHmac('sha256', secret).update(message).digest();
}

test('matchesHmac accepts case 2 of RFC 4231', () => {
  const expected = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
  const signature = readSignature(expected, 'hex');
  assert.ok(signature !== null);
  assert.equal(matchesHmac(['what do ya want for nothing?'], ['Jefe'], [signature]), true);
  assert.equal(matchesHmac(['what do ya want for nothing!'], ['Jefe'], [signature]), false);
});

test('matchesHmac accepts any signature under any secret, at any position', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const names = fc.array(name, { maxLength: 4 });
  fc.assert(
    fc.property(names, names, (secrets, signers) => {
      const signatures = signers.map((signer) => sign(signer, 'the message'));
      const expected = signers.some((signer) => secrets.includes(signer));
      assert.equal(matchesHmac(['the message'], secrets, signatures), expected);
    }),
  );
});

test('matchesHmac concatenates the parts of a message', () => {
  const signature = sign('secret', '12:{"a":1}');
  assert.equal(matchesHmac(['12:', Buffer.from('{"a":1}')], ['secret'], [signature]), true);
  assert.equal(matchesHmac(['12', ':{"a":', '1}'], ['secret'], [signature]), true);
});

test('matchesHmac accepts binary secrets', () => {
  const bytes = Buffer.from([0, 255, 128]);
  const signature = createHmac('sha256', bytes).update('x').digest();
  assert.equal(matchesHmac(['x'], [bytes], [signature]), true);
  assert.equal(matchesHmac(['x'], ['\0\xff\x80'], [signature]), false);
});

test('matchesHmac rejects signatures of another length', () => {
  const signature = sign('secret', 'x');
  for (const wrong of [signature.subarray(1), Buffer.concat([signature, Buffer.of(0)])]) {
    assert.equal(matchesHmac(['x'], ['secret'], [wrong]), false);
  }
});

test('readSignature accepts only an HMAC-SHA256', () => {
  const bytes = Buffer.alloc(32, 0xab);
  const hex = bytes.toString('hex');
  const base64 = bytes.toString('base64');
  assert.deepEqual(readSignature(hex, 'hex'), bytes);
  assert.deepEqual(readSignature(hex.toUpperCase(), 'hex'), bytes);
  assert.deepEqual(readSignature(base64, 'base64'), bytes);
  for (const wrong of ['', hex.slice(1), `${hex}0`, hex.replace('a', 'g'), ` ${hex}`, `${hex}\n`]) {
    assert.equal(readSignature(wrong, 'hex'), null, JSON.stringify(wrong));
  }
  for (const wrong of ['', base64.slice(0, -1), `${base64}=`, base64.replace('q', '-'), hex]) {
    assert.equal(readSignature(wrong, 'base64'), null, JSON.stringify(wrong));
  }
});

test('readUnixTime accepts only plain seconds', () => {
  assert.equal(readUnixTime('0'), 0);
  assert.equal(readUnixTime('1698796800'), 1_698_796_800);
  for (const wrong of ['', '01', '-1', '+1', '1.5', '1e3', '0x1', ' 1', '1\n', '9'.repeat(13)]) {
    assert.equal(readUnixTime(wrong), null, JSON.stringify(wrong));
  }
});

test('isTimely accepts the tolerance before and after', () => {
  const now = new Date(100_000_500);
  const cases: [number, boolean][] = [
    [100_000 - 4, true],
    [100_000 - 5, false],
    [100_000 + 5, true],
    [100_000 + 6, false],
  ];
  for (const [seconds, expected] of cases) {
    assert.equal(isTimely(seconds, { now, toleranceSeconds: 5 }), expected, String(seconds));
  }
  assert.equal(isTimely(100, { now: new Date(105_000), toleranceSeconds: 5 }), true);
  assert.equal(isTimely(100, { now: new Date(105_001), toleranceSeconds: 5 }), false);
});

test('readHeader returns null for a missing or empty header', () => {
  const headers = { 'x-signature': 'abc', 'x-empty': '', 'set-cookie': ['a'] };
  assert.equal(readHeader(headers, 'x-signature'), 'abc');
  assert.equal(readHeader(headers, 'x-empty'), null);
  assert.equal(readHeader(headers, 'x-other'), null);
  assert.equal(readHeader(headers, 'set-cookie'), null);
});
