import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import type { BillingFact, BillingLine } from '../facts.ts';
import { permute } from '../../../../test/permute.ts';
import { buyerHistories } from './buyer-histories.fixture.ts';
import { month, payment, PRICES, snapshot, toEvents } from './facts.fixture.ts';
import type { Purchase } from './group-purchases.ts';
import { moneyBackHistories } from './money-back-histories.fixture.ts';
import { planFacts } from './plan.fixture.ts';
import { SubscriptionModel, type ModelLicense, type Step } from './paid-time-model.fixture.ts';
import { strangeHistories } from './strange-histories.fixture.ts';

const DAY_MS = 86_400_000;

const STEPS: readonly Step['kind'][] = [
  'renew',
  'renew',
  'fail',
  'payLate',
  'upgrade',
  'downgrade',
  'move',
  'refund',
  'cancel',
  'dispute',
  'win',
];

function compute(facts: readonly BillingFact[], order: readonly number[]): ModelLicense[] {
  const events = toEvents(facts);
  const delivered = order.flatMap((index) => events[index] ?? []);
  return planFacts(delivered).missing.map(({ draft, terms }) => ({
    endsOn:
      draft.expiresAt === null
        ? Number.POSITIVE_INFINITY
        : (draft.expiresAt.getTime() - month(3).getTime()) / DAY_MS,
    isRefunded: draft.refundedAt !== null,
    isCanceled: draft.canceledAt !== null,
    isDisputed: draft.disputedAt !== null,
    productId: terms.productId,
  }));
}

test('the rules agree with a model of what was paid, for any history in any order, delivered twice', () => {
  const step = fc.record({
    kind: fc.constantFrom(...STEPS),
    days: fc.integer({ min: 1, max: 25 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 9 }), fc.infiniteStream(fc.nat()), (steps, seeds) => {
      const model = new SubscriptionModel();
      for (const each of steps) model.take(each);
      const indexes = model.facts.flatMap((_, index) => [index, index]);
      const order = indexes
        .map((index) => ({ index, place: seeds.next().value ?? 0 }))
        .sort((a, b) => a.place - b.place)
        .map(({ index }) => index);
      assert.deepEqual(compute(model.facts, order), [model.license()]);
    }),
    { numRuns: 400 },
  );
});

/** What is known of a payment: enough to draw any, also an implausible one. */
const anyLine = fc.record({
  priceId: fc.constantFrom(PRICES.personal, PRICES.sellers, PRICES.unknown),
  quantity: fc.constantFrom(1, 1, 2, 0, -1),
  cycle: fc.constantFrom(null, { interval: 'month', frequency: 1 } as const),
});
const anyPayment = fc.record({
  id: fc.integer({ min: 1, max: 4 }),
  origin: fc.constantFrom('purchase', 'renewal', 'change', 'other'),
  subscriptionId: fc.constantFrom(null, 'sub_1', 'sub_2'),
  total: fc.constantFrom(1_000, 1_000, 0, -5, null),
  day: fc.integer({ min: 0, max: 200 }),
  lines: fc.array(anyLine, { maxLength: 2 }),
  hasPeriod: fc.boolean(),
});
const anySnapshot = fc.record({
  subscriptionId: fc.constantFrom('sub_1', 'sub_2'),
  status: fc.constantFrom('active', 'trialing', 'past_due', 'paused', 'canceled'),
  day: fc.integer({ min: 0, max: 200 }),
  lines: fc.array(anyLine, { maxLength: 2 }),
});

const toLines = (lines: readonly Omit<BillingLine, 'lineId' | 'total'>[]): BillingLine[] =>
  lines.map((each, index) => ({ ...each, lineId: `l${index}`, total: null }));

test('a paid payment has a license, a cause or a reason, for any facts', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyPayment, { minLength: 1, maxLength: 4, selector: ({ id }) => id }),
      fc.array(anySnapshot, { maxLength: 3 }),
      (payments, snapshots) => {
        const facts = [
          ...payments.map(({ id, day, lines, hasPeriod, ...more }) =>
            payment({
              ...more,
              transactionId: `txn_${id}`,
              occurredAt: month(3, day),
              lines: toLines(lines),
              period: hasPeriod ? { startsAt: month(3, day), endsAt: month(4, day) } : null,
            }),
          ),
          ...snapshots.map(({ day, lines, status, subscriptionId }) =>
            snapshot(month(3, day), status, status === 'active' ? 4 : null, {
              subscriptionId,
              lines: toLines(lines),
            }),
          ),
        ];
        const plans = planFacts(toEvents(facts));
        for (const { eventId, fact } of toEvents(facts).flatMap((event) =>
          event.facts.map((each) => ({ eventId: event.eventId, fact: each })),
        )) {
          if (fact.kind !== 'payment' || fact.origin === 'other' || fact.total === 0) continue;
          const own = ({ purchase }: { readonly purchase: Purchase }): boolean =>
            purchase.eventIds.has(eventId);
          const hasCause = plans.unmatched.some(own) || plans.problems.some((each) => own(each));
          const licenses = plans.missing.filter(own);
          assert.ok(hasCause || licenses.length > 0, JSON.stringify(fact));
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

/** Yields all orders of few events, and 720 drawn ones of more. */
function* listOrders<Event>(events: readonly Event[]): Generator<Event[]> {
  if (events.length <= 6) {
    yield* permute(events);
    return;
  }
  const order = fc.shuffledSubarray([...events], { minLength: events.length });
  yield* fc.sample(order, { seed: 1, numRuns: 720 });
}

describe('in every order of events', () => {
  for (const { name, facts, provider, elsewhere = [], expected } of [
    ...buyerHistories,
    ...moneyBackHistories,
    ...strangeHistories,
  ]) {
    test(name, () => {
      for (const order of listOrders(toEvents(facts, 'evt', provider))) {
        const { missing, existing, problems, unmatched } = planFacts(order, elsewhere);
        const licenses = [...missing, ...existing].map((plan) => ({
          productId: plan.draft.product?.id,
          machines: plan.terms?.maxActivations,
          expiresAt: plan.draft.expiresAt,
          isRefunded: plan.draft.refundedAt !== null,
          isCanceled: plan.draft.canceledAt !== null,
          isPaused: plan.draft.pausedAt !== null,
          isDisputed: plan.draft.disputedAt !== null,
          hasGrace: plan.draft.hasGrace,
          isAdopted: 'adopted' in plan,
        }));
        const causes = [...problems, ...unmatched].map(({ reason }) => reason);
        assert.deepEqual(licenses, expected.licenses ?? []);
        assert.equal(causes.length, expected.cause === undefined ? 0 : 1, causes.join('; '));
        if (expected.cause !== undefined) assert.match(causes[0] ?? '', expected.cause);
      }
    });
  }
});
