import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  gumroadMembershipPing,
  gumroadMembershipSale,
  gumroadPing,
  gumroadSale,
} from '../../../../../test/payment-providers/gumroad-sales.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';
import { MalformedEventError } from '../adapter.ts';
import { later } from '../any-order.fixture.ts';
import { gumroadAdapter } from './adapter.ts';
import { readQuestion } from './look-up.ts';

function verify(addressSecret: string | undefined, secrets = ['a secret of the tests']) {
  const secret = addressSecret === undefined ? {} : { addressSecret };
  const delivery = { headers: {}, rawBody: Buffer.alloc(0), ...secret };
  return gumroadAdapter.verify(delivery, { secrets, now: new Date(0), toleranceSeconds: 0 });
}

test('accepts any of the secrets in the address', () => {
  assert.equal(verify('a secret of the tests'), 'valid');
  assert.equal(verify('new', ['old', 'new']), 'valid');
  assert.equal(verify(undefined), 'missing');
  assert.equal(verify(''), 'missing');
  assert.equal(verify('a secret of the test'), 'mismatch');
  assert.equal(verify('A secret of the tests'), 'mismatch');
});

/** Reads a ping as it is stored. */
function store(fields: Record<string, string>, receivedAt = TEST_START): unknown {
  const [ping, ...others] = gumroadAdapter.split?.(fields, receivedAt) ?? [];
  assert.deepEqual(others, []);
  return ping;
}

function read(ping: unknown) {
  return gumroadAdapter.normalize(ping, { headers: {}, rawBody: Buffer.alloc(0) });
}

test('a ping is stored without the data of the buyer, has no facts, and must be looked up', () => {
  const ping = store(gumroadPing('sale', gumroadMembershipSale()));
  assert.doesNotMatch(JSON.stringify(ping), /example\.com|4242|eur/u);
  const event = read(ping);
  assert.match(event.eventId, /^sale:FO8TXN-dbxYaBdahG97Y-Q==:[0-9a-f]{16}$/u);
  assert.deepEqual(
    { ...event, eventId: '' },
    {
      provider: 'gumroad',
      eventId: '',
      type: 'sale',
      occurredAt: TEST_START,
      facts: [],
      ignoredBecause: null,
      requiresLookUp: true,
    },
  );
  assert.deepEqual(readQuestion(event, ping), {
    eventId: event.eventId,
    saleId: 'FO8TXN-dbxYaBdahG97Y-Q==',
    subscriptionId: 'sub-one==',
  });
});

test('a ping about a membership asks for the membership only', () => {
  const ping = store(gumroadMembershipPing('cancellation', { sale_id: 'first==' }));
  const event = read(ping);
  const { saleId, subscriptionId } = readQuestion(event, ping);
  assert.deepEqual([event.type, saleId, subscriptionId], ['cancellation', null, 'sub-one==']);
});

function id(fields: Record<string, string>, at?: Date): string {
  return read(store(fields, at)).eventId;
}

test('a repetition is the same event; another resource or state is another one', () => {
  const sale = gumroadPing('sale');
  assert.equal(id({ ...sale, retry_count: '2' }, later(1)), id(sale));
  const partial = gumroadPing('refund');
  const full = gumroadPing('refund', gumroadSale({ refunded: true }));
  const at = TEST_START.toISOString();
  const ids = [
    id(sale),
    id(partial),
    id(full),
    id(gumroadPing('dispute', gumroadSale({ disputed: true }))),
    id(gumroadMembershipPing('cancellation', { cancelled_at: at })),
    id(gumroadMembershipPing('cancellation', { cancelled_at: later(9).toISOString() })),
    id(gumroadMembershipPing('subscription_restarted', { restarted_at: at })),
  ];
  assert.equal(new Set(ids).size, ids.length);
});

test('the ping without a resource name reports a sale', () => {
  const { resource_name: _resource, ...simple } = gumroadPing('sale');
  assert.equal(read(store(simple)).type, 'sale');
});

test('a purchase by the seller is one of the test mode', () => {
  assert.equal(
    read(store(gumroadPing('sale', gumroadSale(), { test: 'true' }))).provider,
    'gumroad:test',
  );
});

test('other resources are ignored, and pings without an id are malformed', () => {
  const { ignoredBecause } = read(store(gumroadPing('payout')));
  assert.equal(ignoredBecause, 'No license depends on payout.');
  for (const ping of [
    store({ resource_name: 'sale' }),
    store({ ...gumroadPing('sale'), sale_id: 'no id' }),
    store({ ...gumroadPing('sale'), resource_name: '' }),
    store({ resource_name: 'cancellation', sale_id: 'a==' }),
  ]) {
    assert.throws(() => read(ping), MalformedEventError);
  }
});
