import assert from 'node:assert/strict';
import { generateKeyPairSync, sign as signEd25519 } from 'node:crypto';
import { after, before, describe, mock, test } from 'node:test';

import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';

import { verifyStandardWebhook } from './verify.ts';

const NOW = new Date('2027-03-01T12:00:00.000Z');
const SECONDS = NOW.getTime() / 1000;
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"test": 2432232314}';
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';

before(() => mock.timers.enable({ apis: ['Date'], now: NOW }));
after(() => mock.timers.reset());

interface Signed {
  readonly id?: string;
  readonly timestamp?: string;
  readonly body?: string;
  readonly secrets?: readonly string[];
  readonly now?: Date;
}

function verify(signature: string, signed: Signed = {}) {
  const {
    id = ID,
    timestamp = String(SECONDS),
    body = BODY,
    secrets = [SECRET],
    now = NOW,
  } = signed;
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  };
  const delivery = { headers, rawBody: Buffer.from(body) };
  return verifyStandardWebhook(delivery, { secrets, now, toleranceSeconds: 30 });
}

function sign(seconds = SECONDS, { secret = SECRET, body = BODY } = {}): string {
  return new Webhook(secret).sign(ID, new Date(seconds * 1000), body);
}

/** The result of the library; an exception counts as a rejection. */
function theirs(body: string, secret: string, timestamp: string, signature: string): boolean {
  try {
    new Webhook(secret).verify(body, {
      'webhook-id': ID,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    });
    return true;
  } catch (error) {
    assert.ok(error instanceof Error && error.name === 'WebhookVerificationError');
    return false;
  }
}

test('accepts a published signature at its time, which the library generates too', () => {
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  assert.equal(sign(1_614_265_330), signature);
  const published = { timestamp: '1614265330', now: new Date(1_614_265_330_000) };
  assert.deepEqual(verify(signature, published), 'valid');
  const bare = SECRET.replace('whsec_', '');
  assert.deepEqual(verify(signature, { ...published, secrets: [bare] }), 'valid');
});

test('agrees with the library about valid and forged deliveries', () => {
  const secret = fc
    .uint8Array({ minLength: 24, maxLength: 64 })
    .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
  const drawn = fc.record({
    body: fc.jsonValue().map((value) => JSON.stringify({ value })),
    secret,
    signedWith: fc.option(secret, { nil: null }),
    agoSeconds: fc.integer({ min: -400, max: 400 }),
    shift: fc.constantFrom(0, 0, 0, 1),
    other: fc.constantFrom('', 'v1,abc ', 'v2,abc ', `v1,${'A'.repeat(43)}= `),
  });
  const seen = new Set<boolean>();
  fc.assert(
    fc.property(drawn, ({ body, signedWith, agoSeconds, shift, other, ...rest }) => {
      const at = SECONDS - agoSeconds;
      const signature = other + sign(at + shift, { body, secret: signedWith ?? rest.secret });
      const expected = theirs(body, rest.secret, String(at), signature);
      seen.add(expected);
      const ours = verify(signature, { body, secrets: [rest.secret], timestamp: String(at) });
      assert.equal(ours === 'valid', expected);
    }),
  );
  assert.equal(seen.size, 2);
});

test('accepts any signature under any secret', () => {
  const other = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
  const list = `v1,${'A'.repeat(43)}= ${sign()} v2,x`;
  assert.deepEqual(verify(list, { secrets: [other, SECRET] }), 'valid');
  assert.deepEqual(verify(list, { secrets: [other] }), 'mismatch');
});

test('accepts times within five minutes, even with a smaller setting', () => {
  for (const ago of [300, -300]) {
    const timestamp = String(SECONDS - ago);
    assert.deepEqual(verify(sign(SECONDS - ago), { timestamp }), 'valid');
  }
  for (const ago of [301, -301]) {
    const timestamp = String(SECONDS - ago);
    assert.deepEqual(verify(sign(SECONDS - ago), { timestamp }), 'stale');
  }
});

describe('public keys', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const key = `whpk_${raw.toString('base64')}`;
  const message = Buffer.from(`${ID}.${SECONDS}.${BODY}`);
  const signature = `v1a,${signEd25519(null, message, privateKey).toString('base64')}`;

  test('accept an Ed25519 signature, besides shared secrets', () => {
    assert.deepEqual(verify(signature, { secrets: [key] }), 'valid');
    assert.deepEqual(verify(`v1,abc ${signature}`, { secrets: [SECRET, key] }), 'valid');
  });

  test('reject another text, another key, and the public key as a shared secret', () => {
    const mismatch = 'mismatch';
    assert.deepEqual(verify(signature, { secrets: [key], body: '{}' }), mismatch);
    assert.deepEqual(verify(signature, { secrets: [SECRET] }), mismatch);
    const forged = new Webhook(raw, { format: 'raw' }).sign(ID, NOW, BODY);
    assert.deepEqual(verify(forged, { secrets: [key] }), mismatch);
    assert.deepEqual(verify(signature, { secrets: ['whpk_abc'] }), mismatch);
  });
});

describe('malformed signatures', () => {
  test('are missing without a header', () => {
    const delivery = { headers: { 'webhook-id': ID }, rawBody: Buffer.from(BODY) };
    const options = { secrets: [SECRET], now: NOW, toleranceSeconds: 30 };
    assert.deepEqual(verifyStandardWebhook(delivery, options), 'missing');
  });

  test('are malformed without a time or known signature, or with a full stop in the id', () => {
    const malformed = 'malformed';
    assert.deepEqual(verify(sign(), { timestamp: '1e9' }), malformed);
    assert.deepEqual(verify('v2,abc'), malformed);
    assert.deepEqual(verify('v1,abc'), malformed);
    assert.deepEqual(verify(sign(), { id: 'msg.1' }), malformed);
  });

  test('mismatch for a secret that is not base64', () => {
    const empty = new Webhook(Buffer.from('x'), { format: 'raw' }).sign(ID, NOW, BODY);
    assert.deepEqual(verify(empty, { secrets: ['whsec_'] }), 'mismatch');
  });
});
