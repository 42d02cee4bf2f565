import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';

import { fastSpringAdapter } from './adapter.ts';

const BODY = '{"events":[]}';

function verify(signature: string | undefined, secrets = ['fs_secret']) {
  const headers = signature === undefined ? {} : { 'x-fs-signature': signature };
  const delivery = { headers, rawBody: Buffer.from(BODY) };
  return fastSpringAdapter.verify(delivery, { secrets, now: new Date(0), toleranceSeconds: 0 });
}

function sign(secret: string, body = BODY): string {
  return createHmac('sha256', secret).update(body).digest('base64');
}

test('accepts the HMAC of the body under any secret, at any time', () => {
  // As `printf '%s' "$body" | openssl dgst -sha256 -hmac fs_secret -binary | base64` writes it.
  assert.deepEqual(verify('Cv3DXOvOxZK0ZozGY2G0Bi5+pu9v+hxYR+g+mtoXCWs='), 'valid');
  assert.deepEqual(verify(sign('fs_secret'), ['another', 'fs_secret']), 'valid');
});

test('distinguishes missing, malformed and mismatching signatures', () => {
  assert.deepEqual(verify(undefined), 'missing');
  assert.deepEqual(verify('abc'), 'malformed');
  assert.deepEqual(verify(Buffer.from(sign('fs_secret'), 'base64').toString('hex')), 'malformed');
  assert.deepEqual(verify(sign('another')), 'mismatch');
  assert.deepEqual(verify(sign('fs_secret', `${BODY} `)), 'mismatch');
});
