import assert from 'node:assert/strict';
import { test } from 'node:test';

import { polarAdapter } from './adapter.ts';

/** A delivery whose signature was computed elsewhere. */
const SECRET = 'whsec_ovyN6cPrTv56AApvzCaJno08SSmGJmgbWilb33N2JuK';
const BODY = '{"type":"order.paid"}';
const HEADERS = {
  'webhook-id': 'msg_1',
  'webhook-timestamp': '1700000000',
  'webhook-signature': 'v1,qdEBi26MiMEqLxylNErcKCOk2D8fDv/MD11c2Q6fFLs=',
};

function verify(
  headers: Readonly<Record<string, string>>,
  secret = SECRET,
  atSeconds = 1_700_000_000,
) {
  return polarAdapter.verify(
    { headers, rawBody: Buffer.from(BODY) },
    { secrets: [secret], now: new Date(atSeconds * 1000), toleranceSeconds: 30 },
  );
}

test('Polar: the key is the text of the secret with its prefix', () => {
  assert.equal(verify(HEADERS), 'valid');
  assert.equal(verify(HEADERS, SECRET.replace('whsec_', '')), 'mismatch');
});

test('Polar: distinguishes missing, malformed, mismatching and stale signatures', () => {
  assert.equal(verify({}), 'missing');
  assert.equal(verify({ ...HEADERS, 'webhook-signature': 'v1,abc' }), 'malformed');
  assert.equal(verify({ ...HEADERS, 'webhook-id': 'msg_2' }), 'mismatch');
  assert.equal(verify(HEADERS, SECRET, 1_700_000_301), 'stale');
});
