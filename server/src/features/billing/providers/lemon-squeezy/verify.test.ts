import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';

import { lemonSqueezyAdapter } from './adapter.ts';

const BODY = '{"meta":{"event_name":"order_created"}}';

function verify(signature: string | undefined, secrets = ['a secret']) {
  const headers = signature === undefined ? {} : { 'x-signature': signature };
  const delivery = { headers, rawBody: Buffer.from(BODY) };
  return lemonSqueezyAdapter.verify(delivery, { secrets, now: new Date(0), toleranceSeconds: 0 });
}

function sign(secret: string, body = BODY): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

test('accepts the HMAC of the body under any secret, at any time', () => {
  // As `printf '%s' "$body" | openssl dgst -sha256 -hmac 'a secret'` writes it.
  const signature = 'c2b2a427ed4fbc4dc17da3654c29067d2f30fb0982c719556b4c883503c0e32a';
  assert.deepEqual(verify(signature), 'valid');
  assert.deepEqual(verify(sign('a secret'), ['another', 'a secret']), 'valid');
  assert.deepEqual(verify(sign('a secret').toUpperCase()), 'valid');
});

test('distinguishes missing, malformed and mismatching signatures', () => {
  assert.deepEqual(verify(undefined), 'missing');
  assert.deepEqual(verify('abc'), 'malformed');
  assert.deepEqual(verify(sign('another')), 'mismatch');
  assert.deepEqual(verify(sign('a secret', `${BODY} `)), 'mismatch');
});
