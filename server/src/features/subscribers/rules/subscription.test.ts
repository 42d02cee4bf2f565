import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

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
const suppressed = (reason: string, minute: number) => ({
  suppression: { reason, suppressedAt: at(minute) },
});

test('the state is what the facts make, and no mail is no mail', () => {
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

describe('whether a mail asks for a confirmation', () => {
  const none: ConfirmationMails = { today: 0, last: null };
  test('of somebody who is new, or has unsubscribed before he asked again', () => {
    assert.equal(decideAt(pending, none), 'send');
    const again = { ...confirmed, subscribedAt: at(3), ...suppressed('unsubscribed', 2) };
    assert.equal(decideAt(again, none, 3), 'send');
  });

  test('of nobody who has confirmed, who was erased, or who wants no mail', () => {
    assert.equal(decideAt(confirmed, none), 'none');
    assert.equal(decideAt({ ...pending, email: null }, none), 'none');
    for (const reason of ['erased', 'by_hand', 'bounced', 'complained']) {
      const facts = { ...pending, subscribedAt: at(3), ...suppressed(reason, 2) };
      assert.equal(decideAt(facts, none, 3), 'none', reason);
    }
    for (const said of [0, 1]) {
      const facts = { ...pending, ...suppressed('unsubscribed', said) };
      assert.equal(
        decideAt(facts, none, 2),
        'none',
        'he said so at that moment, or after he asked',
      );
    }
  });

  test('three times a day, with five minutes in between', () => {
    assert.equal(decideAt(pending, mailed(1, 0, 0), 4), 'none');
    assert.equal(decideAt(pending, mailed(1, 0, 0), 5), 'send');
    assert.equal(decideAt(pending, mailed(2, 0, 0), 5), 'send');
    assert.equal(decideAt(pending, mailed(3, 0, 0), 50), 'none');
  });

  test('later, when the link of the last mail was overtaken by an unsubscription', () => {
    const again = { ...confirmed, subscribedAt: at(3), ...suppressed('unsubscribed', 2) };
    assert.deepEqual(decideAt(again, mailed(1, 1, 0), 3), { notBefore: at(6) });
    assert.equal(decideAt(again, mailed(1, 1, 0), 6), 'send');
    assert.equal(decideAt(again, mailed(3, 1, 0), 6), 'none');
  });
});

describe('what a link does', () => {
  const link = { requestedAt: at(0), expiresAt: at(30) };
  const decide = (facts: SubscriberFacts | null, minute = 1) =>
    decideConfirmation(link, facts, at(minute));

  test('it confirms until it expires', () => {
    assert.equal(decide(pending, 29), 'confirm');
    assert.equal(decide(pending, 30), 'void');
  });

  test('it says that all is done when it was used, expired or not', () => {
    assert.equal(decide(confirmed), 'already');
    assert.equal(decide(confirmed, 31), 'already');
  });

  test('it lifts an unsubscription that was said before it was asked for, and no later one', () => {
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

  test('it stands for nothing once the address was erased', () => {
    assert.equal(decide(null), 'void');
    assert.equal(decide({ ...pending, email: null }), 'void');
  });
});
