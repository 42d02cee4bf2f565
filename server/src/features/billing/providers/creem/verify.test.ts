import assert from 'node:assert/strict';
import { test } from 'node:test';

import { creemAdapter } from './adapter.ts';

/** A delivery whose signature was computed elsewhere. */
const SIGNATURE = 'c7f442cbd5cfb89c121d75aef4525830372b0b25c10d0786494fc51c8dc4d936';

function verify(headers: Readonly<Record<string, string>>, secret = 'creem_secret') {
  return creemAdapter.verify(
    { headers, rawBody: Buffer.from('{"id":"evt_1"}') },
    { secrets: [secret], now: new Date(0), toleranceSeconds: 0 },
  );
}

test('Creem: accepts the HMAC of the body in hexadecimal, at any time', () => {
  assert.equal(verify({ 'creem-signature': SIGNATURE }), 'valid');
  assert.equal(verify({ 'creem-signature': SIGNATURE.toUpperCase() }), 'valid');
});

test('Creem: distinguishes missing, malformed and mismatching signatures', () => {
  assert.equal(verify({}), 'missing');
  assert.equal(verify({ 'creem-signature': 'abc' }), 'malformed');
  assert.equal(verify({ 'creem-signature': SIGNATURE }, 'another'), 'mismatch');
});
