import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { generateWebhookSecret, signMessage } from './sign-message.ts';

test('matches the vector of Standard Webhooks', () => {
  const headers = signMessage(
    { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', payload: '{"test": 2432232314}' },
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    new Date(1_614_265_330_999),
  );
  assert.deepEqual(headers, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('the library accepts a message with several signatures under each secret only', () => {
  const secrets = [1, 2].map(() => generateWebhookSecret(randomBytes));
  const payload = '{"type":"license.created","text":"ü€"}';
  const headers = signMessage({ id: 'msg_1', payload }, secrets, new Date());
  for (const secret of secrets) {
    assert.deepEqual(new Webhook(secret).verify(payload, headers), JSON.parse(payload));
  }
  const other = new Webhook(generateWebhookSecret(randomBytes));
  assert.throws(() => other.verify(payload, headers), /No matching signature found/);
});

test('generates secrets of 32 bytes', () => {
  const secret = generateWebhookSecret((count) => new Uint8Array(count).fill(255));
  assert.equal(secret, `whsec_${Buffer.alloc(32, 255).toString('base64')}`);
});
