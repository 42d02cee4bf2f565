/** Look-ups become the same licenses in any order of events, with duplicates. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import {
  GUMROAD_PRODUCT,
  gumroadMembershipSale,
  gumroadSale,
  gumroadSubscriber,
} from '../../../../../test/payment-providers/gumroad-sales.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';
import type { BillingEvent, PaymentFact } from '../../facts.ts';
import { MalformedEventError } from '../adapter.ts';
import { APRIL, computeInAnyOrder, computeOne, later, MAY } from '../any-order.fixture.ts';
import { gumroadAdapter } from './adapter.ts';
import { toLookUpBodies } from './look-up.ts';

type Fields = Readonly<Record<string, unknown>>;

const SELLER = { accountId: 'seller', email: null };
const QUESTION = { eventId: 'ping', saleId: null, subscriptionId: null };

interface Found {
  readonly sale?: Fields;
  readonly subscriber?: Fields;
}

/** The events of a look-up. */
function lookUpAll({ sale = {}, subscriber = {} }: Found, askedAt = TEST_START): BillingEvent[] {
  const found = {
    sale: Object.keys(sale).length === 0 ? null : sale,
    subscriber: Object.keys(subscriber).length === 0 ? null : subscriber,
    seller: SELLER,
  };
  return toLookUpBodies(QUESTION, found, askedAt).map((body) => {
    const rawBody = Buffer.from(JSON.stringify(body));
    return gumroadAdapter.normalize(JSON.parse(rawBody.toString()), { headers: {}, rawBody });
  });
}

/** The event of a look-up of a sale, or else of a membership. */
function lookUp(found: Found, askedAt?: Date): BillingEvent {
  const event = lookUpAll(found, askedAt).at(-1);
  assert.ok(event !== undefined);
  return event;
}

function payment(sale: Fields, subscriber?: Fields): PaymentFact {
  const event = lookUp({ sale, ...(subscriber === undefined ? {} : { subscriber }) });
  const found = event.facts.find((fact) => fact.kind === 'payment');
  assert.ok(found !== undefined);
  return found;
}

/** Whether the refund of a sale is full, and its amount. */
function refundOf(fields: Fields): readonly unknown[] {
  const event = lookUp({ sale: gumroadSale({ partially_refunded: true, ...fields }) });
  const refund = event.facts.find((fact) => fact.kind === 'adjustment');
  return [refund?.full, refund?.total, refund?.currency];
}

function priceOf(variants: unknown): string | undefined {
  return payment(gumroadSale({ variants })).lines[0]?.priceId;
}

/** A charge of a membership of the product `monthly`, which has no tiers. */
function charge(fields: Fields = {}): Fields {
  return gumroadMembershipSale({ product_id: 'monthly', variants: {}, ...fields });
}

describe('a look-up', () => {
  test('of a sale is a purchase in cents of US dollars, by the address of the checkout', () => {
    const event = lookUp({ sale: gumroadSale({ quantity: 3 }) });
    assert.equal(event.type, 'sale.looked_up');
    assert.deepEqual(event.facts, [
      {
        kind: 'payment',
        transactionId: 'FO8TXN-dbxYaBdahG97Y-Q==',
        subscriptionId: null,
        origin: 'purchase',
        customerId: '8624612371865',
        customer: { email: 'ann@example.com', name: 'Ann Example', locale: null },
        occurredAt: TEST_START,
        period: null,
        lines: [
          {
            lineId: GUMROAD_PRODUCT,
            priceId: GUMROAD_PRODUCT,
            quantity: 3,
            cycle: null,
            total: 1_999,
          },
        ],
        total: 1_999,
        currency: 'USD',
        fee: 250,
        country: 'DE',
      },
    ]);
  });

  test('names the price with the chosen options, encoded', () => {
    assert.equal(priceOf({ Tier: 'Pro' }), `${GUMROAD_PRODUCT}:Pro`);
    assert.equal(
      priceOf({ Version: 'Team (5 seats)', Color: 'Größe' }),
      `${GUMROAD_PRODUCT}:Team%20(5%20seats):Gr%C3%B6%C3%9Fe`,
    );
    assert.equal(priceOf({}), GUMROAD_PRODUCT);
    assert.equal(priceOf('Pro'), GUMROAD_PRODUCT);
  });

  test('of a membership pays from its charge for one recurrence', () => {
    const ends = ['monthly', 'quarterly', 'biannually', 'yearly', 'every_two_years'].map(
      (recurrence) =>
        payment(gumroadMembershipSale({ subscription_duration: recurrence })).period?.endsAt,
    );
    assert.deepEqual(
      ends.map((end) => end?.toISOString().slice(0, 10)),
      ['2027-04-01', '2027-06-01', '2027-09-01', '2028-03-01', '2029-03-01'],
    );
    const unknown = payment(gumroadMembershipSale({ subscription_duration: 'weekly' }));
    assert.deepEqual([unknown.lines, unknown.period], [[], null]);
    assert.match(unknown.problem ?? '', /no known recurrence/u);
  });

  test('of a free trial runs until its end', () => {
    const trial = gumroadSubscriber({ free_trial_ends_at: later(7).toISOString() });
    const sale = gumroadMembershipSale({ price: 0 });
    assert.deepEqual(payment(sale, trial).period?.endsAt, later(7));
    const license = computeOne(
      lookUpAll({ sale: { ...sale, variants: {}, product_id: 'monthly' }, subscriber: trial }),
    );
    assert.deepEqual([license.expiresAt, license.hasGrace], [later(7), false]);
  });

  test('of a gift creates the license from the sale of its recipient', () => {
    const gift = gumroadSale({ is_gift_sender_purchase: true });
    const { facts, ignoredBecause } = lookUp({ sale: gift });
    assert.match(ignoredBecause ?? '', /^It is a gift/u);
    assert.deepEqual(
      facts.map((fact) => (fact.kind === 'payment' ? [fact.origin, fact.total, fact.lines] : fact)),
      [['other', 1_999, []]],
    );
    const received = gumroadSale({
      is_gift_receiver_purchase: true,
      price: 0,
      email: 'buyer@example.com',
      purchase_email: 'bob@example.com',
    });
    assert.equal(payment(received).customer.email, 'bob@example.com');
  });

  test('of a refunded gift needs an operator, because it does not name the sale of its recipient', () => {
    const gift = gumroadSale({ is_gift_sender_purchase: true, refunded: true });
    const [money, question, ...others] = lookUpAll({ sale: gift });
    assert.deepEqual(others, []);
    assert.deepEqual(
      money?.facts.map(({ kind }) => kind),
      ['payment', 'adjustment'],
    );
    // An event without facts belongs to no purchase, so no later event ends its attention.
    assert.deepEqual(question?.facts, []);
    assert.match(question?.ignoredBecause ?? '', /^Needs attention: /u);
  });

  test('of a part that was paid back in another currency reports the same share of the dollars', () => {
    // The sale of 19.99 dollars.
    const part = { amount_refundable_in_currency: '13.50', formatted_display_price: '€18' };
    assert.deepEqual(refundOf(part), [false, 500, 'USD']);
    const membership = { ...part, formatted_display_price: '€18.00 a month' };
    assert.deepEqual(refundOf(membership), [false, 500, 'USD']);
    const yen = { currency_symbol: '¥', amount_refundable_in_currency: '1500' };
    assert.deepEqual(refundOf({ ...yen, formatted_display_price: '¥2,000' }), [false, 500, 'USD']);
    for (const price of ['$18', '€', '€0', '€18,00.5.1', null]) {
      const fields = { ...part, formatted_display_price: price };
      assert.deepEqual(refundOf(fields), [false, null, undefined], String(price));
    }
  });

  test('of a part that was paid back in dollars reports the amount, and in another currency without its price none', () => {
    const dollars = { currency_symbol: '$', amount_refundable_in_currency: '14.99' };
    assert.deepEqual(refundOf(dollars), [false, 500, 'USD']);
    assert.deepEqual(refundOf({}), [false, null, undefined]);
    assert.deepEqual(refundOf({ ...dollars, refunded: true }), [true, null, undefined]);
    for (const left of ['1,999.00', '', '-3', '20.00', null]) {
      const fields = { ...dollars, amount_refundable_in_currency: left };
      assert.deepEqual(refundOf(fields), [false, null, undefined], String(left));
    }
  });

  test('of a preorder has no effect', () => {
    const { ignoredBecause } = lookUp({ sale: gumroadSale({ is_preorder_authorization: true }) });
    assert.equal(ignoredBecause, 'A preorder is not paid yet.');
  });

  test('is the same event for the same content, and has no fields that are not read', () => {
    const first = lookUp({ sale: gumroadSale() });
    assert.equal(lookUp({ sale: gumroadSale() }, later(3)).eventId, first.eventId);
    assert.notEqual(lookUp({ sale: gumroadSale({ refunded: true }) }).eventId, first.eventId);
    const found = { sale: gumroadSale(), subscriber: gumroadSubscriber(), seller: SELLER };
    const bodies = JSON.stringify(toLookUpBodies(QUESTION, found, TEST_START));
    assert.match(bodies, /ann@example\.com/u);
    assert.doesNotMatch(bodies, /Hidden Street|85DB562A/u);
  });

  test('without an id is malformed, and any values of fields become facts or a malformed event', () => {
    assert.throws(() => lookUp({ sale: gumroadSale({ id: null }) }), MalformedEventError);
    const fields = [...Object.keys(gumroadMembershipSale()), ...Object.keys(gumroadSubscriber())];
    const changes = fc.dictionary(fc.constantFrom(...fields), fc.jsonValue());
    fc.assert(
      fc.property(changes, (change) => {
        const sale = gumroadMembershipSale(change);
        try {
          const events = lookUpAll({ sale, subscriber: gumroadSubscriber(change) });
          for (const fact of events.flatMap(({ facts }) => facts))
            assert.ok(!Number.isNaN(fact.occurredAt.getTime()));
        } catch (error) {
          assert.ok(error instanceof MalformedEventError, String(error));
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('Gumroad', () => {
  const sale = gumroadSale({ product_id: 'personal' });
  const alive = gumroadSubscriber();
  const begun = lookUpAll({ sale: charge(), subscriber: alive });
  const renewal = { id: 'second==', recurring_charge: true, created_at: APRIL.toISOString() };
  const renewed = lookUpAll({ sale: charge(renewal), subscriber: alive }, APRIL);

  test('a sale creates a perpetual license, which a full refund ends', () => {
    const license = computeOne([lookUp({ sale })]);
    assert.deepEqual(
      [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
      ['FO8TXN-dbxYaBdahG97Y-Q==', 'FO8TXN-dbxYaBdahG97Y-Q==', 'once:0', null],
    );
    const part = lookUp({ sale: { ...sale, partially_refunded: true } }, later(3));
    assert.equal(computeOne([lookUp({ sale }), part]).refundedAt, null);
    const whole = lookUp({ sale: { ...sale, refunded: true } }, later(4));
    assert.deepEqual(computeOne([lookUp({ sale }), part, whole]).refundedAt, later(4));
  });

  test('a dispute suspends, and ends when it is won', () => {
    const disputed = lookUp({ sale: { ...sale, disputed: true, chargedback: true } }, later(3));
    assert.deepEqual(computeOne([lookUp({ sale }), disputed]).disputedAt, later(3));
    const won = lookUp({ sale: { ...sale, disputed: true, dispute_won: true } }, later(9));
    assert.equal(computeOne([lookUp({ sale }), disputed, won]).disputedAt, null);
  });

  test('each charge of a membership extends it', () => {
    assert.deepEqual(computeOne([...begun]).expiresAt, APRIL);
    assert.deepEqual(computeOne([...begun, ...renewed]).expiresAt, MAY);
  });

  test('a renewal alone creates the license of a membership from before', () => {
    assert.deepEqual(computeOne([...renewed]).expiresAt, MAY);
  });

  test('the refund of a charge takes away its month', () => {
    const refunded = charge({ ...renewal, refunded: true });
    const license = computeOne([
      ...begun,
      ...renewed,
      ...lookUpAll({ sale: refunded, subscriber: alive }, later(40)),
    ]);
    assert.deepEqual([license.refundedAt, license.canceledAt], [later(40), null]);
  });

  test('a cancellation is scheduled, ends the membership, and a restart takes it back', () => {
    const pending = { status: 'pending_cancellation', cancelled_at: APRIL.toISOString() };
    const announced = lookUp({ subscriber: gumroadSubscriber(pending) }, later(5));
    assert.equal(announced.type, 'subscriber.looked_up');
    const until = computeOne([...begun, announced]);
    assert.deepEqual([until.cancelScheduledFor, until.expiresAt], [APRIL, APRIL]);
    const over = { ...pending, status: 'cancelled', ended_at: APRIL.toISOString() };
    const ended = lookUp({ subscriber: gumroadSubscriber(over) }, later(32));
    assert.deepEqual(computeOne([...begun, announced, ended]).canceledAt, APRIL);
    const restarted = lookUp({ subscriber: alive }, later(40));
    const again = charge({ ...renewal, created_at: later(40).toISOString() });
    const license = computeOne([
      ...begun,
      announced,
      ended,
      restarted,
      ...lookUpAll({ sale: again, subscriber: alive }, later(40)),
    ]);
    assert.equal(license.canceledAt, null);
    assert.equal(license.expiresAt?.toISOString(), '2027-05-10T12:00:00.000Z');
  });

  test('a failed charge leaves the paid time and its grace period', () => {
    const failing = lookUp(
      { subscriber: gumroadSubscriber({ status: 'pending_failure' }) },
      later(32),
    );
    const license = computeOne([...begun, failing]);
    assert.deepEqual(
      [license.expiresAt, license.canceledAt, license.hasGrace],
      [APRIL, null, true],
    );
  });

  test('a change of the tier moves the license to the other price', () => {
    const upgrade = { id: 'up==', is_upgrade_purchase: true, created_at: later(10).toISOString() };
    const other = charge({ ...upgrade, product_id: 'price_monthly' });
    const upgraded = lookUpAll({ sale: other, subscriber: alive }, later(10));
    const license = computeOne([...begun, ...upgraded]);
    assert.equal(license.priceId, 'price_monthly');
    // A later look-up of the first sale does not move it back.
    const late = lookUpAll(
      { sale: charge({ partially_refunded: true }), subscriber: alive },
      later(20),
    );
    assert.equal(computeOne([...begun, ...upgraded, ...late]).priceId, 'price_monthly');
    assert.deepEqual(computeInAnyOrder([...begun, ...upgraded, ...late]).length, 1);
  });
});
