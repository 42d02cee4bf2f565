import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { SuppressionReasonName } from '@latchkey/contract';

import type { ConfirmationMails, SubscriberFacts } from '../facts.ts';
import { decideConfirmation, decideMail, stateOf } from './subscription.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 10, minute));

const pending: SubscriberFacts = {
  id: '00000000-0000-8000-8000-000000000000',
  email: 'ada@example.com',
  language: null,
  firstSubscribedAt: at(0),
  subscribedAt: at(0),
  confirmedAt: null,
  optIn: null,
  confirmationMailedAt: null,
  confirmationProblem: null,
  suppression: null,
};
const confirmed: SubscriberFacts = { ...pending, confirmedAt: at(1), optIn: 'double' };
const suppressed = (reason: SuppressionReasonName, minute: number) => ({
  suppression: { reason, suppressedAt: at(minute) },
});

test('a suppression overrides the confirmation in the state', () => {
  const states = [
    pending,
    confirmed,
    { ...confirmed, ...suppressed('unsubscribed', 2) },
    { ...pending, ...suppressed('erased', 2) },
    { ...confirmed, ...suppressed('bounced', 2) },
    { ...confirmed, ...suppressed('complained', 2) },
    { ...confirmed, ...suppressed('by_hand', 2) },
  ].map(stateOf);
  assert.deepEqual(states, [
    'pending',
    'confirmed',
    'unsubscribed',
    'erased',
    'bounced',
    'complained',
    'suppressed',
  ]);
});

const mailed = (today: number, mailedAt: number, requestedAt: number): ConfirmationMails => ({
  today,
  last: { mailedAt: at(mailedAt), requestedAt: at(requestedAt) },
});
const decideAt = (facts: SubscriberFacts, mails: ConfirmationMails, minute = 0) =>
  decideMail(facts, mails, at(minute));

describe('a confirmation e-mail', () => {
  const none: ConfirmationMails = { today: 0, last: null };
  test('is sent to a new subscriber and to one who subscribes again after unsubscribing', () => {
    assert.equal(decideAt(pending, none), 'send');
    const again = { ...confirmed, subscribedAt: at(3), ...suppressed('unsubscribed', 2) };
    assert.equal(decideAt(again, none, 3), 'send');
  });

  test('is not sent to a confirmed, erased or suppressed subscriber', () => {
    assert.equal(decideAt(confirmed, none), 'none');
    assert.equal(decideAt({ ...pending, email: null }, none), 'none');
    for (const reason of ['erased', 'by_hand', 'bounced', 'complained'] as const) {
      const facts = { ...pending, subscribedAt: at(3), ...suppressed(reason, 2) };
      assert.equal(decideAt(facts, none, 3), 'none', reason);
    }
    for (const minute of [0, 1]) {
      const facts = { ...pending, ...suppressed('unsubscribed', minute) };
      assert.equal(decideAt(facts, none, 2), 'none', 'unsubscribed with or after the request');
    }
  });

  test('is sent three times a day, five minutes apart', () => {
    assert.equal(decideAt(pending, mailed(1, 0, 0), 4), 'none');
    assert.equal(decideAt(pending, mailed(1, 0, 0), 5), 'send');
    assert.equal(decideAt(pending, mailed(2, 0, 0), 5), 'send');
    assert.equal(decideAt(pending, mailed(3, 0, 0), 50), 'none');
  });

  test('is delayed when an unsubscription made the link of the last one invalid', () => {
    const again = { ...confirmed, subscribedAt: at(3), ...suppressed('unsubscribed', 2) };
    assert.deepEqual(decideAt(again, mailed(1, 1, 0), 3), { notBefore: at(6) });
    assert.equal(decideAt(again, mailed(1, 1, 0), 6), 'send');
    assert.equal(decideAt(again, mailed(3, 1, 0), 6), 'none');
  });
});

describe('a confirmation link', () => {
  const link = { requestedAt: at(0), expiresAt: at(30) };
  const decide = (facts: SubscriberFacts | null, minute = 1) =>
    decideConfirmation(link, facts, at(minute));

  test('confirms until it expires', () => {
    assert.equal(decide(pending, 29), 'confirm');
    assert.equal(decide(pending, 30), 'void');
  });

  test('reports a confirmed subscriber, expired or not', () => {
    assert.equal(decide(confirmed), 'already');
    assert.equal(decide(confirmed, 31), 'already');
  });

  test('lifts an unsubscription from before its request, and no other suppression', () => {
    const link3 = { requestedAt: at(3), expiresAt: at(30) };
    const before = { ...confirmed, ...suppressed('unsubscribed', 2) };
    assert.equal(decideConfirmation(link3, before, at(4)), 'confirm');
    assert.equal(decide({ ...confirmed, ...suppressed('unsubscribed', 0) }), 'void');
    assert.equal(decide({ ...confirmed, ...suppressed('unsubscribed', 1) }), 'void');
    assert.equal(
      decideConfirmation(link3, { ...confirmed, ...suppressed('by_hand', 2) }, at(4)),
      'void',
    );
  });

  test('is void after an erasure', () => {
    assert.equal(decide(null), 'void');
    assert.equal(decide({ ...pending, email: null }), 'void');
  });
});
