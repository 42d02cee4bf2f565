import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import type { BillingEvent, BillingFact, BillingLine } from '../facts.ts';
import { permute } from '../../../../test/permute.ts';
import { buyerHistories } from './buyer-histories.fixture.ts';
import { adjustment, month, payment, PRICES, snapshot, toEvents } from './facts.fixture.ts';
import type { LedgerEntry, Purchase } from './group-purchases.ts';
import { ModelShop } from './model-shop.fixture.ts';
import { moneyBackHistories } from './money-back-histories.fixture.ts';
import type { AdoptableLicense, LicensePlans } from './plan-licenses.ts';
import { planFacts } from './plan.fixture.ts';
import type { ModelLicense, Step } from './model-steps.fixture.ts';
import { SubscriptionModel } from './paid-time-model.fixture.ts';
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
  'pause',
  'resume',
  'renewUnseen',
  'payAfterEnd',
  'payNegative',
  'payByStranger',
  'renewInYen',
  'editCatalog',
];

/** Draws an order in which events arrive, each twice. */
function shuffle(count: number, seeds: fc.Stream<number>): number[] {
  return Array.from({ length: count * 2 }, (_, index) => index % count)
    .map((index) => ({ index, place: seeds.next().value ?? 0 }))
    .sort((a, b) => a.place - b.place)
    .map(({ index }) => index);
}

const IMPORTED: AdoptableLicense = {
  provider: 'paddle',
  licenseId: '0',
  kind: 'subscription',
  name: 'sub_1',
  productId: 'personal',
  maxActivations: 2,
  subscription: true,
  expiresAt: month(4, -1),
  customerEmail: null,
};

/** Delivers the events between two edits of the catalogue in any order, then those after them, and old ones again. */
function deliver(model: SubscriptionModel, isImported: boolean, seeds: fc.Stream<number>) {
  const shop = new ModelShop(isImported ? [IMPORTED] : []);
  const events = toEvents(model.facts);
  let plans: LicensePlans | null = null;
  let from = 0;
  for (const until of [...model.edits, events.length]) {
    if (from > 0) shop.editCatalog();
    const part = events.slice(from, until);
    for (const index of shuffle(part.length, seeds)) {
      const event = part[index];
      if (event !== undefined) plans = shop.receive(event);
    }
    from = until;
  }
  // Again, so that every license exists.
  const [first] = events;
  if (first !== undefined) plans = shop.receive(first);
  return { events, plans };
}

function read({ existing }: LicensePlans): ModelLicense[] {
  return existing.map(({ draft, terms }) => ({
    endsOn:
      draft.expiresAt === null
        ? Number.POSITIVE_INFINITY
        : (draft.expiresAt.getTime() - month(3).getTime()) / DAY_MS,
    isRefunded: draft.refundedAt !== null,
    isCanceled: draft.canceledAt !== null,
    isDisputed: draft.disputedAt !== null,
    isPaused: draft.pausedAt !== null,
    productId: terms?.productId ?? '',
    machines: terms?.maxActivations ?? 0,
  }));
}

/** Lists the transactions of the events that need an operator. */
function listAttention(
  { problems, unmatched }: LicensePlans,
  events: readonly BillingEvent[],
): unknown[] {
  const ids = new Set(problems.map(({ eventId }) => eventId));
  const payments = events
    .filter(({ eventId }) => ids.has(eventId))
    .flatMap(({ facts }) =>
      facts.map((fact) => (fact.kind === 'payment' ? fact.transactionId : fact.kind)),
    );
  return [...payments, ...unmatched.map(({ reason }) => reason)].sort();
}

/** `MODEL_RUNS` sets another number of histories. */
const MODEL_RUNS = Number(process.env['MODEL_RUNS'] ?? 400);

test('the rules agree with a model on licenses and attention, for any history in any order, delivered twice', () => {
  const step = fc.record({
    kind: fc.constantFrom(...STEPS),
    days: fc.integer({ min: 1, max: 25 }),
  });
  const options = fc.record({ hasStableLines: fc.boolean(), isImported: fc.boolean() });
  fc.assert(
    fc.property(
      options,
      fc.array(step, { maxLength: 10 }),
      fc.infiniteStream(fc.nat()),
      (how, steps, seeds) => {
        const model = new SubscriptionModel(how);
        for (const each of steps) model.take(each);
        fc.pre(!model.isAmbiguous);
        const { events, plans } = deliver(model, how.isImported, seeds);
        assert.ok(plans !== null);
        assert.deepEqual(read(plans), [model.license()]);
        assert.deepEqual(listAttention(plans, events), model.attention.toSorted());
      },
    ),
    { numRuns: MODEL_RUNS },
  );
});

/** The licenses of plans, in any order; an operator's issues of one subscription are named by the first one. */
function listDrafts({ missing }: LicensePlans): string[] {
  return missing
    .map(({ draft }) => [draft.transactionId, draft.lineKey, draft.expiresAt, draft.refundedAt])
    .map((each) => JSON.stringify(each))
    .sort();
}

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

const anyRepair = fc.record({
  id: fc.integer({ min: 1, max: 4 }),
  kind: fc.constantFrom('price', 'issue', 'address'),
  productId: fc.constantFrom('personal', 'yearly'),
});
const anyRefund = fc.record({
  id: fc.integer({ min: 1, max: 4 }),
  full: fc.boolean(),
  day: fc.integer({ min: 0, max: 200 }),
});

/** A repair as it is stored, after all events. */
function toRepair(
  { id, kind, productId }: { id: number; kind: 'price' | 'issue' | 'address'; productId: string },
  index: number,
): LedgerEntry {
  const transactionId = `txn_${id}`;
  const common = {
    kind: 'repair',
    occurredAt: month(12, index),
    transactionId,
    repairedEventId: `evt_${id - 1}`,
  } as const;
  const facts = {
    price: { ...common, repair: 'price', priceId: PRICES.unknown, productId },
    issue: { ...common, repair: 'issue', productId, quantity: 1 },
    address: { ...common, repair: 'address', email: 'ada@example.com' },
  } as const;
  return { provider: 'paddle', eventId: `repair_${index}`, fact: facts[kind] };
}

test('a paid payment has a license, a cause or a reason, for any facts, repairs and refunds', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyPayment, { minLength: 1, maxLength: 4, selector: ({ id }) => id }),
      fc.array(anySnapshot, { maxLength: 3 }),
      fc.array(anyRepair, { maxLength: 3 }),
      fc.array(anyRefund, { maxLength: 2 }),
      (payments, snapshots, repairs, refunds) => {
        const facts: BillingFact[] = [
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
        const paidBack = refunds.map(({ id, full, day }, index) =>
          adjustment({
            adjustmentId: `adj_${index}`,
            transactionId: `txn_${id}`,
            occurredAt: month(3, day),
            full,
            total: 100,
          }),
        );
        facts.push(...paidBack);
        const isPaidBack = (transactionId: string): boolean =>
          paidBack.some((each) => each.transactionId === transactionId);
        const entries = repairs.map(toRepair);
        const plans = planFacts(toEvents(facts), [], entries);
        const reversed = planFacts(toEvents(facts).toReversed(), [], entries.toReversed());
        assert.deepEqual(listDrafts(reversed), listDrafts(plans));
        for (const { eventId, fact } of toEvents(facts).flatMap((event) =>
          event.facts.map((each) => ({ eventId: event.eventId, fact: each })),
        )) {
          if (fact.kind !== 'payment' || fact.origin === 'other' || fact.total === 0) continue;
          if (isPaidBack(fact.transactionId)) continue;
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
