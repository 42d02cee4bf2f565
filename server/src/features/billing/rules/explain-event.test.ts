import assert from 'node:assert/strict';
import { test } from 'node:test';

import { explainEvent, type ExplainedEvent } from './explain-event.ts';

const failed: ExplainedEvent = {
  status: 'failed',
  message: 'The data of x lack data.id',
  provider: 'stripe',
  type: 'x',
  attempts: 1,
  nextAttemptAt: null,
  hasBody: true,
  hasLicense: false,
};

const explain = (event: Partial<ExplainedEvent>) => explainEvent({ ...failed, ...event }, 14);

test('distinguishes a malformed event, one that exhausted its retries and an unreadable delivery', () => {
  const form = 'The event does not have the form of its type: The data of x lack data.id.';
  assert.equal(explain({}).summary, form);
  assert.equal(
    explain({ attempts: 14, message: 'duplicate key' }).summary,
    'The event could not be applied in 14 attempts: duplicate key.',
  );
  assert.match(explain({ type: 'unreadable' }).summary, /^A signed delivery is not an event: /);
});

test('reports that an event without its payload cannot be replayed', () => {
  const dismissed = { status: 'ignored', message: 'dismissed: a test' } as const;
  for (const event of [{}, { attempts: 14 }, dismissed]) {
    const { advice } = explain({ ...event, hasBody: false });
    assert.equal(advice, 'Its payload is gone, so that it cannot be replayed.');
  }
});

test('names a payment without a license, and one that lacks a part of what was paid', () => {
  const message = 'No product of the catalogue has the price pri_1.';
  const unmatched = { status: 'ignored', message } as const;
  assert.deepEqual(explain(unmatched), {
    summary: `A customer paid and has no license: ${message}`,
    advice:
      'Add the price to a product of the catalogue, then replay the event. Or assign the price to a product with a repair, for this purchase or for all. See docs/operations/payments.md#repair-a-payment. Dismiss nothing: the buyer waits.',
  });
  const partial = explain({ ...unmatched, status: 'processed', hasLicense: true });
  assert.equal(partial.summary, `A customer paid for more than the license contains: ${message}`);
  assert.match(partial.advice ?? '', /^Add the price to a product/);
});

test('names the cause of a payment that needs attention', () => {
  const message = 'Needs attention: it was paid after the subscription was canceled.';
  assert.deepEqual(explain({ status: 'processed', message }), {
    summary: 'A payment needs attention: it was paid after the subscription was canceled.',
    advice:
      'Refund the payment in the dashboard of Stripe (Payments), or issue a license for it. See docs/operations/payments.md#repair-a-payment. Dismiss the event once that is done.',
  });
});

test('needs nothing of an operator for applied and ignored events', () => {
  const ignored = { status: 'ignored', message: 'No license depends on x.' } as const;
  assert.deepEqual(
    [explain({ status: 'processed', message: null }), explain(ignored)],
    [
      { summary: 'The event is applied.', advice: null },
      { summary: 'The event changes no license: No license depends on x.', advice: null },
    ],
  );
  assert.equal(
    explain({ message: null, status: 'deferred' }).summary,
    'The event could not be applied yet: the reason is unknown.',
  );
});
