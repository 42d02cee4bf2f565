import assert from 'node:assert/strict';
import { test } from 'node:test';

import { classify, type Received } from './answer.ts';
import { refusal } from './refusal.ts';
import { noAnswer } from './results.ts';

const PROBLEM = 'application/problem+json; charset=utf-8';

function receive(changes: Partial<Received>): ReturnType<typeof classify> {
  return classify({
    status: 200,
    contentType: 'application/json',
    date: null,
    retryAfter: null,
    text: '{}',
    ...changes,
  });
}

test('JSON with 200 is an answer, and its time is read', () => {
  const answer = receive({ text: '{"a":1}', date: 'Fri, 15 Jan 2027 08:00:00 GMT' });
  assert.deepEqual(answer, { kind: 'success', body: { a: 1 }, serviceMs: 1_800_000_000_000 });
});

test('a problem with a code is an answer', () => {
  const text = '{"status":409,"code":"activation_limit_reached","max":2,"current":2}';
  const one = receive({ status: 409, contentType: PROBLEM, text });
  assert.ok(one.kind === 'problem');
  assert.deepEqual(refusal(one), {
    ok: false,
    code: 'activation_limit_reached',
    max: 2,
    current: 2,
  });
  assert.equal(receive({ status: 409, text }).kind, 'problem', 'by its status');
});

test('everything else is no answer', () => {
  const received: readonly (readonly [Partial<Received>, string])[] = [
    [{ text: '<html>' }, 'portal'],
    [{ text: '{"a":' }, 'portal'],
    [{ status: 0 }, 'portal'],
    [{ status: 204 }, 'portal'],
    [{ status: 302 }, 'portal'],
    [{ status: 403, text: '<html>' }, 'portal'],
    [{ status: 403, text: '{"code":"blocked"}' }, 'portal'],
    [{ status: 404, text: '{"status":400,"code":"other"}' }, 'portal'],
    [{ status: 404, contentType: PROBLEM, text: '{"code":404}' }, 'portal'],
    [{ status: 422, text: '{"detail":[]}' }, 'portal'],
    [{ status: 407 }, 'proxy'],
    [{ status: 429, contentType: PROBLEM, text: '{"code":"rate_limited"}' }, 'busy'],
    [{ status: 503, text: '<html>' }, 'busy'],
  ];
  for (const [changes, cause] of received) {
    const answer = receive(changes);
    assert.ok(answer.kind === 'no_response', JSON.stringify(changes));
    assert.equal(answer.cause, cause, JSON.stringify(changes));
  }
});

test('reads how long to wait, up to a day', () => {
  const waits = ['30', '9999999', 'soon', '-1', null].map((retryAfter) => {
    const answer = receive({ status: 503, retryAfter });
    return answer.kind === 'no_response' ? noAnswer(answer).retryAfterMs : null;
  });
  assert.deepEqual(waits, [30_000, 86_400_000, 0, 0, 0]);
});
