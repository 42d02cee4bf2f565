import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MESSAGE_NOT_SENT } from '../load/operations.ts';
import { Expectations } from './expectations.ts';
import { Violations } from './violations.ts';

const killed = { name: 'service killed', allowed: ['no answer'], recoveryMs: 1_000 };

function judge(
  outcome: string,
  [sentAt, endedAt]: readonly [number, number],
  { causeEndedAt = 200 }: { causeEndedAt?: number | null } = {},
): string[] {
  const violations = new Violations();
  const expectations = new Expectations(violations);
  expectations.begin(killed, 100).causeEndedAt = causeEndedAt;
  expectations.judge({ operation: 'validate', outcome, dueAt: sentAt, sentAt, endedAt });
  return violations.list();
}

test('allows normal outcomes always, and those of a fault from its beginning until its recovery', () => {
  assert.deepEqual(judge('200', [0, 10]), []);
  assert.deepEqual(judge('no answer', [90, 100]), []);
  assert.deepEqual(judge('no answer', [1_200, 5_000]), []);
  assert.deepEqual(judge('no answer', [9_000, 9_001], { causeEndedAt: null }), []);
});

test('reports an outcome without a fault, before it and after its recovery', () => {
  const sentence = 'validate ended with "no answer" without a fault';
  assert.deepEqual(judge('no answer', [90, 99]), [sentence]);
  assert.deepEqual(judge('no answer', [1_201, 1_300]), [sentence]);
});

test('reports an outcome that the fault does not allow', () => {
  assert.deepEqual(judge('500 internal_error', [150, 160]), [
    'validate ended with "500 internal_error" during the fault "service killed", which does not allow it',
  ]);
});

test('allows an outcome of any fault during which the request was open', () => {
  const violations = new Violations();
  const expectations = new Expectations(violations);
  expectations.begin(killed, 0).causeEndedAt = 100;
  const cut = expectations.begin({ ...killed, name: 'clients cut', allowed: [] }, 2_000);
  const judgeUntil = (sentAt: number): void =>
    expectations.judge({
      operation: 'list',
      outcome: 'no answer',
      dueAt: 0,
      sentAt,
      endedAt: 3_000,
    });
  judgeUntil(1_000);
  assert.deepEqual([violations.list(), cut.outcomes.size], [[], 0]);
  judgeUntil(1_101);
  assert.deepEqual(violations.list(), [
    'list ended with "no answer" during the fault "clients cut", which does not allow it',
  ]);
});

test('the outcome of a subscription is 201', () => {
  const violations = new Violations();
  const expectations = new Expectations(violations);
  const times = { dueAt: 0, sentAt: 0, endedAt: 0 };
  expectations.judge({ operation: 'subscribe', outcome: '201', ...times });
  expectations.judge({ operation: 'subscribe', outcome: '200', ...times });
  assert.deepEqual(violations.list(), ['subscribe ended with "200" without a fault']);
});

test('a message that was not sent needs a fault that allows it, and delays no recovery', () => {
  const violations = new Violations();
  const expectations = new Expectations(violations);
  const message = { outcome: MESSAGE_NOT_SENT, sentAt: 0, endedAt: 50 } as const;
  expectations.judgeMessage(message);
  const cut = expectations.begin({ ...killed, name: 'clients cut', allowed: [] }, 40);
  expectations.judgeMessage(message);
  const down = expectations.begin({ ...killed, allowed: [MESSAGE_NOT_SENT] }, 45);
  expectations.judgeMessage(message);
  assert.deepEqual(violations.list(), [
    'an outreach message ended with "message not sent" without a fault',
    'an outreach message ended with "message not sent" during the fault "clients cut", which does not allow it',
  ]);
  assert.deepEqual([...down.outcomes], [[MESSAGE_NOT_SENT, 1]]);
  assert.deepEqual([cut.lastUnusualAt, down.lastUnusualAt], [null, null]);
});

test('lists each sentence once, with its number', () => {
  const violations = new Violations();
  for (const sentence of ['one', 'two', 'one']) violations.add(sentence);
  assert.deepEqual(violations.list(), ['one (2 times)', 'two']);
});

test('only counts webhooks that are answered 503 without a fault, since providers repeat them', () => {
  const violations = new Violations();
  const expectations = new Expectations(violations);
  const times = { dueAt: 0, sentAt: 0, endedAt: 1 };
  const outcome = '503 database_unavailable';
  expectations.judge({ operation: 'webhook', outcome, ...times });
  assert.deepEqual([expectations.refusedWebhooks, violations.list()], [1, []]);
  expectations.judge({ operation: 'validate', outcome, ...times });
  expectations.judge({ operation: 'webhook', outcome: '500 internal_error', ...times });
  assert.equal(expectations.refusedWebhooks, 1);
  assert.deepEqual(violations.list(), [
    'validate ended with "503 database_unavailable" without a fault',
    'webhook ended with "500 internal_error" without a fault',
  ]);
});
