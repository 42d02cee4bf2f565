import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SIGNER } from '../../test/signer.ts';
import { decodeBase64url } from './base64url.ts';
import { isCanonicalSignature, isSafePublicKey } from './ed25519.ts';

/** The order of the base point, as the second half of a signature. */
const ORDER = 'edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010';

function signature(second: string): Buffer {
  return Buffer.concat([Buffer.alloc(32, 1), Buffer.from(second, 'hex')]);
}

test('accepts a second half below the order, and none from it on', () => {
  assert.equal(isCanonicalSignature(signature(ORDER.replace('ed', 'ec'))), true);
  assert.equal(isCanonicalSignature(signature(ORDER)), false);
  assert.equal(isCanonicalSignature(signature(ORDER.replace('ed', 'ee'))), false);
  assert.equal(isCanonicalSignature(signature('00'.repeat(31))), false);
});

test('refuses points of small order, with either sign, and points encoded otherwise', () => {
  const points = [
    '00'.repeat(32),
    `01${'00'.repeat(31)}`,
    `ec${'ff'.repeat(30)}7f`,
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    `ed${'ff'.repeat(30)}7f`,
    `ee${'ff'.repeat(30)}7f`,
    'ff'.repeat(32),
  ];
  for (const hex of points) {
    const point = Buffer.from(hex, 'hex');
    assert.equal(isSafePublicKey(point), false, hex);
    point.writeUInt8(point.readUInt8(31) ^ 128, 31);
    assert.equal(isSafePublicKey(point), false, `${hex} with the other sign`);
  }
});

test('accepts a public key of 32 bytes', () => {
  const key = decodeBase64url(SIGNER.publicKey.x) ?? new Uint8Array();
  assert.equal(isSafePublicKey(key), true);
  assert.equal(isSafePublicKey(key.subarray(1)), false);
});
