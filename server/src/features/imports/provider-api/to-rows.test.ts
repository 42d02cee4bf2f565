import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { testCatalog } from '../../../../test/test-catalog.ts';
import { UNKNOWN_CUSTOMER, type SubscriptionFact } from '../../billing/facts.ts';
import type { ProviderKey, ProviderRecord } from './records.ts';
import { day } from './test-reader.fixture.ts';
import { toRecordRows } from './to-rows.ts';

const catalog = testCatalog();

const line = {
  lineId: 'si_1',
  priceId: 'price_personal',
  quantity: 1,
  cycle: { interval: 'month', frequency: 1 },
  total: null,
} as const;

function recordOf(
  snapshot: Partial<SubscriptionFact> | null,
  more: Partial<ProviderRecord> & { readonly paidUntil?: Date } = {},
): ProviderRecord {
  const { paidUntil = null, ...fields } = more;
  const usual: SubscriptionFact = {
    kind: 'subscription',
    occurredAt: day(0),
    subscriptionId: 'sub_1',
    transactionId: null,
    customerId: 'cus_1',
    customer: UNKNOWN_CUSTOMER,
    status: 'active',
    period: { startsAt: day(-10), endsAt: day(20) },
    pausedAt: null,
    canceledAt: null,
    scheduledChange: null,
    lines: [line],
  };
  const subscription =
    snapshot === null ? null : { snapshot: { ...usual, ...snapshot }, paidUntil };
  return {
    provider: 'stripe',
    id: 'sub_1',
    customer: { email: 'ann@example.com', name: 'Ann', locale: null },
    subscription,
    key: null,
    isTest: false,
    ...fields,
  };
}

const key: ProviderKey = {
  licenseKey: '38B1460A-5104-4067-A91D-77B872934D51',
  priceId: 'price_personal',
  productIds: ['price_personal'],
  transactionId: 'order:1',
  details: {},
  state: 'valid',
  maxActivations: 5,
  expiresAt: null,
  machines: [{ instanceId: 'instance-1', name: 'laptop', activatedAt: day(-30) }],
};

function named(id: string) {
  return { id, name: null };
}

/** The fields that depend on the state of a subscription. */
function stateOf(record: ProviderRecord) {
  return toRecordRows(record, catalog).map((row) => {
    if (!('license' in row)) return row;
    const { expiresAt, isSubscription, cancelScheduledFor, status, statusSince } = row.license;
    return { expiresAt, isSubscription, cancelScheduledFor, status, statusSince };
  });
}

const running = {
  expiresAt: day(20),
  isSubscription: true,
  cancelScheduledFor: null,
  status: 'active',
  statusSince: null,
};

describe('a running subscription', () => {
  test('becomes a license that its next event adopts, for the product of its price', () => {
    const [row] = toRecordRows(recordOf({ lines: [{ ...line, quantity: 3 }] }), catalog);
    assert.ok(row !== undefined && 'license' in row);
    const { license } = row;
    assert.deepEqual(
      [license.sourceId, license.provider, license.subscriptionId, license.products],
      ['sub_1', 'stripe', 'sub_1', [named('price_personal'), named('personal')]],
    );
    assert.deepEqual(
      [license.licenseKey, license.quantity, license.maxActivations, license.customerEmail],
      [null, 3, null, 'ann@example.com'],
    );
  });

  test('ends as its webhooks would end it', () => {
    const cancel = { action: 'cancel', effectiveAt: day(20) } as const;
    const due = { status: 'past_due', period: { startsAt: day(-1), endsAt: day(29) } } as const;
    assert.deepEqual(stateOf(recordOf({})), [running]);
    assert.deepEqual(stateOf(recordOf({ scheduledChange: cancel })), [
      { ...running, cancelScheduledFor: day(20) },
    ]);
    assert.deepEqual(stateOf(recordOf({ status: 'trialing' })), [
      { ...running, isSubscription: false },
    ]);
    assert.deepEqual(stateOf(recordOf(due, { paidUntil: day(-1) })), [
      { ...running, expiresAt: day(-1) },
    ]);
    const paused = { status: 'paused', period: null, pausedAt: day(-2) } as const;
    assert.deepEqual(stateOf(recordOf(paused, { paidUntil: day(-2) })), [
      { ...running, expiresAt: day(-2), status: 'paused', statusSince: day(-2) },
    ]);
  });

  test('without any payment is left out, with the reason', () => {
    const [row] = toRecordRows(recordOf({ status: 'past_due' }), catalog);
    assert.ok(row !== undefined && 'skipped' in row);
    assert.match(row.skipped, /^The subscription sub_1 was never paid/u);
  });

  test('with several prices becomes a license for each, with ids that stay the same', () => {
    const second = { ...line, lineId: 'si_2', priceId: 'price_sellers' };
    const unknown = { ...line, lineId: 'si_3', priceId: 'price_unknown' };
    const rows = toRecordRows(recordOf({ lines: [line, second, unknown] }), catalog);
    assert.deepEqual(
      rows.map((row) => 'license' in row && [row.license.sourceId, row.license.products]),
      [
        ['sub_1', [named('price_personal'), named('personal')]],
        ['sub_1:recurring:1', [named('price_sellers'), named('sellers')]],
        ['sub_1:recurring:2', [named('price_unknown')]],
      ],
    );
  });

  test('with a quantity that is not plausible is reported', () => {
    const rows = toRecordRows(recordOf({ lines: [{ ...line, quantity: -1 }] }), catalog);
    assert.deepEqual(rows, [
      { problem: 'The subscription sub_1 has no plausible quantity of price_personal.' },
    ]);
  });
});

describe('a license key', () => {
  test('keeps its machines, and ends with its subscription', () => {
    const [row] = toRecordRows(recordOf({}, { id: '7', key }), catalog);
    assert.ok(row !== undefined && 'license' in row);
    const { license } = row;
    assert.deepEqual(
      [license.sourceId, license.licenseKey, license.maxActivations, license.expiresAt],
      ['7', key.licenseKey, 5, day(20)],
    );
    assert.deepEqual([license.subscriptionId, license.transactionId], ['sub_1', 'order:1']);
    assert.deepEqual(license.devices, [
      { id: 'instance-1', label: 'laptop', lastSeenAt: day(-30) },
    ]);
  });

  test('of a one-time purchase has its own end, and may be disabled', () => {
    const sold: ProviderKey = { ...key, maxActivations: null, state: 'suspended' };
    const [row] = toRecordRows(recordOf(null, { id: '7', key: sold }), catalog);
    assert.ok(row !== undefined && 'license' in row);
    const { license } = row;
    assert.deepEqual(
      [license.expiresAt, license.isSubscription, license.maxActivations, license.status],
      [null, false, 'unlimited', 'suspended'],
    );
  });
});
