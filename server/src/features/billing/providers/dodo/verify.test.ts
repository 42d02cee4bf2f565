import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dodoAdapter } from './adapter.ts';

/** A delivery whose signature was computed elsewhere. */
const SECRET = 'whsec_c2VjcmV0Cg==';
const BODY = '{"type":"payment.succeeded"}';
const HEADERS = {
  'webhook-id': 'msg_1',
  'webhook-timestamp': '1700000000',
  'webhook-signature': 'v1,FvMRRnRmdwMO9l8Au8S+pGGD7n9M8fCTRAabRcn0S5M=',
};

function verify(
  headers: Readonly<Record<string, string>>,
  secret = SECRET,
  atSeconds = 1_700_000_000,
) {
  return dodoAdapter.verify(
    { headers, rawBody: Buffer.from(BODY) },
    { secrets: [secret], now: new Date(atSeconds * 1000), toleranceSeconds: 30 },
  );
}

test('Dodo Payments: the key is decoded from base64, without its prefix', () => {
  assert.equal(verify(HEADERS), 'valid');
  assert.equal(verify(HEADERS, 'whsec_c2VjcmV0Cw=='), 'mismatch');
});

test('Dodo Payments: distinguishes missing, malformed, mismatching and stale signatures', () => {
  assert.equal(verify({}), 'missing');
  assert.equal(verify({ ...HEADERS, 'webhook-signature': 'v1,abc' }), 'malformed');
  assert.equal(verify({ ...HEADERS, 'webhook-id': 'msg_2' }), 'mismatch');
  assert.equal(verify(HEADERS, SECRET, 1_700_000_301), 'stale');
});
