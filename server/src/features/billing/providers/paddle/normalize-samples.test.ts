/** Paddle's library reads the same values from the same events. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import {
  AdjustmentNotification,
  CustomerNotification,
  EventName,
  Paddle,
  SubscriptionCreatedNotification,
  SubscriptionNotification,
  TransactionNotification,
} from '@paddle/paddle-node-sdk';

import { signPaddle } from '../../../../../test/payment-providers/paddle-events.ts';
import { createPaddleSamples } from '../../../../../test/payment-providers/paddle-samples.ts';
import type { BillingFact } from '../../facts.ts';
import { normalizePaddle } from './read-event.fixture.ts';

const NOW = new Date('2027-03-01T12:00:00.000Z');
const samples = createPaddleSamples();

test('has a sample of every type that the library knows', () => {
  const types = samples.map(({ event_type }) => event_type);
  assert.equal(new Set(types).size, types.length);
  assert.deepEqual(new Set(types), new Set<string>(Object.values(EventName)));
});

test('translates or ignores every sample, with a reason', () => {
  const counting = samples
    .map((sample) => normalizePaddle(JSON.parse(JSON.stringify(sample))))
    .filter(({ facts, ignoredBecause }) => {
      assert.equal(facts.length === 0, ignoredBecause !== null);
      return facts.length > 0;
    });
  assert.deepEqual(
    counting.map(({ type }) => type),
    [
      'transaction.completed',
      'subscription.created',
      'subscription.imported',
      'subscription.trialing',
      'subscription.activated',
      'subscription.updated',
      'subscription.past_due',
      'subscription.paused',
      'subscription.resumed',
      'subscription.canceled',
      'adjustment.created',
      'adjustment.updated',
      'customer.created',
      'customer.imported',
      'customer.updated',
    ],
  );
});

test('agrees with the library about every sample', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: NOW });
  t.after(() => mock.timers.reset());
  const { webhooks } = new Paddle('an-api-key');
  for (const sample of samples) {
    const body = JSON.stringify(sample);
    const read = await webhooks.unmarshal(body, 'secret', signPaddle(body, 'secret', NOW));
    const { eventId, type, facts } = normalizePaddle(JSON.parse(body));
    assert.deepEqual([eventId, type], [read.eventId, read.eventType]);
    for (const fact of facts) assert.deepEqual(summarize(fact), summarizeEntity(read.data), type);
  }
});

function toTime(text: string | null | undefined): Date | null {
  return text == null ? null : new Date(text);
}

function summarize(fact: BillingFact): unknown[] {
  switch (fact.kind) {
    case 'payment':
      return [
        fact.transactionId,
        fact.subscriptionId,
        fact.customerId,
        fact.period?.endsAt ?? null,
        fact.total,
        fact.lines.map((line) => [line.lineId, line.priceId, line.quantity, line.total]),
      ];
    case 'subscription':
      return [
        fact.subscriptionId,
        fact.customerId,
        fact.status,
        fact.period?.endsAt ?? null,
        fact.pausedAt,
        fact.canceledAt,
        fact.lines.map((line) => [
          line.priceId,
          line.quantity,
          line.cycle?.interval,
          line.cycle?.frequency,
        ]),
      ];
    case 'adjustment':
      return [
        fact.adjustmentId,
        fact.transactionId,
        fact.full,
        fact.total,
        fact.lines.map((line) => [line.lineId, line.full, line.total]),
      ];
    case 'customer':
      return [fact.customerId, fact.customer.email, fact.customer.name, fact.customer.locale];
  }
}

function summarizeEntity(entity: unknown): unknown[] {
  if (entity instanceof TransactionNotification) {
    return [
      entity.id,
      entity.subscriptionId,
      entity.customerId,
      toTime(entity.billingPeriod?.endsAt),
      Number(entity.details?.totals?.grandTotal),
      entity.details?.lineItems.map((line) => [
        line.id,
        line.priceId,
        line.quantity,
        Number(line.totals?.total),
      ]),
    ];
  }
  if (
    entity instanceof SubscriptionNotification ||
    entity instanceof SubscriptionCreatedNotification
  ) {
    return [
      entity.id,
      entity.customerId,
      entity.status,
      toTime(entity.currentBillingPeriod?.endsAt),
      toTime(entity.pausedAt),
      toTime(entity.canceledAt),
      entity.items.map(({ price, quantity }) => [
        price?.id,
        quantity,
        price?.billingCycle?.interval,
        price?.billingCycle?.frequency,
      ]),
    ];
  }
  if (entity instanceof AdjustmentNotification) {
    return [
      entity.id,
      entity.transactionId,
      entity.type === 'full',
      Number(entity.totals.total),
      entity.items.map((item) => [item.itemId, item.type === 'full', Number(item.totals?.total)]),
    ];
  }
  assert.ok(entity instanceof CustomerNotification);
  return [entity.id, entity.email, entity.name, entity.locale];
}
