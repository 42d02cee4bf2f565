import assert from 'node:assert/strict';
import { test } from 'node:test';

import { toOutcome, toResult } from './message-outcome.ts';

for (const [reply, expected] of [
  ['550 5.1.1 <ada@example.com> user unknown', 'smtp_550: 5.1.1 <address> user unknown'],
  ['550-5.7.1 Not today\r\n550 5.7.1 ada@example.com', 'smtp_550: 5.7.1 Not today 5.7.1 <address>'],
  ['550 no\u0000\u001b[31m thing', 'smtp_550: no [31m thing'],
  [`550 ${'x'.repeat(300)}`, `smtp_550: ${'x'.repeat(200)}`],
  ['550', 'smtp_550: 550'],
  ['', 'smtp_550'],
  [null, 'smtp_550'],
] as const) {
  test(`reports the refusal ${JSON.stringify(reply?.slice(0, 40))} as ${expected.slice(0, 60)}`, () => {
    assert.deepEqual(toOutcome({ outcome: 'permanent', reason: 'smtp_550', reply }), {
      state: 'failed',
      error: expected,
    });
  });
}

test('reports an unexpected failure as unknown, not as failed', () => {
  for (const outcome of ['temporary', 'unknown'] as const) {
    const ended = toOutcome({ outcome, reason: 'unknown', reply: null });
    assert.deepEqual(ended, { state: 'unknown', error: 'unknown' });
  }
});

test('omits the reply of the relay unless it is an SMTP refusal', () => {
  const result = toOutcome({ outcome: 'temporary', reason: 'login', reply: '535 bad password' });
  assert.deepEqual(result, { state: 'failed', error: 'login' });
});

test('reports the message id unless the message was certainly not sent', () => {
  const message = { email: 'ada@example.com', messageId: '<1@example.com>' };
  const ids = (['sent', 'unknown', 'failed'] as const).map(
    (state) => toResult({ ...message, state, error: null }).message_id,
  );
  assert.deepEqual(ids, ['<1@example.com>', '<1@example.com>', null]);
});
