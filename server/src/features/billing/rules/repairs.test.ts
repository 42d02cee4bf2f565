import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { BillingFact, BillingProvider } from '../facts.ts';
import { began, checkout, month, payment, renewal, snapshot, toEvents } from './facts.fixture.ts';
import { planFacts } from './plan.fixture.ts';
import { computeIssued } from './issued.ts';

/** Plans facts, and lists how many licenses there are and what needs attention. */
function plan(facts: readonly BillingFact[]) {
  const { missing, problems, unmatched } = planFacts(toEvents(facts));
  return {
    ends: missing.map(({ draft }) => draft.expiresAt),
    reasons: [...problems, ...unmatched].map(({ reason }) => reason),
  };
}

describe('a payment with a negative amount', () => {
  test('grants nothing, and needs attention', () => {
    const { ends, reasons } = plan([payment({ total: -1_000 })]);
    assert.deepEqual(ends, []);
    assert.equal(reasons.length, 1);
    assert.match(reasons[0] ?? '', /^Needs attention: the amount is negative/u);
  });

  test('extends no subscription', () => {
    const facts = [
      checkout({ subscriptionId: 'sub_1' }),
      began(),
      snapshot(month(4), 'past_due', 4),
    ];
    const before = plan(facts);
    const after = plan([...facts, renewal(4, { total: -1_000 })]);
    assert.deepEqual(after.ends, before.ends);
    assert.equal(after.reasons.length, 1);
  });
});

test('a number that Lemon Squeezy counts up is no id of a checkout, in its test mode neither', () => {
  const transactionId = 'order:1';
  const fact = { ...payment({ transactionId, origin: 'other' }), eventId: 'event' };
  const checkoutIds = (provider: BillingProvider): (string | null)[] =>
    computeIssued(
      {
        provider,
        payments: [fact],
        snapshots: [],
        adjustments: [],
        setAside: [],
        repairs: [
          {
            kind: 'repair',
            repair: 'issue',
            occurredAt: month(1),
            transactionId,
            repairedEventId: 'event',
            productId: 'personal',
            quantity: 1,
          },
        ],
      },
      () => null,
    ).map(({ draft }) => draft.checkoutId);
  assert.deepEqual(checkoutIds('lemonsqueezy'), [null]);
  assert.deepEqual(checkoutIds('lemonsqueezy:test'), [null]);
  assert.deepEqual(checkoutIds('paddle:test'), [transactionId]);
});
