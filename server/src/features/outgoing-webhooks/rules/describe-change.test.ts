import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { anyStatusFacts, perpetual } from '../../licenses/rules/status-facts.fixture.ts';
import { licenseStatus } from '../../licenses/rules/status.ts';
import { describeChange, describeTransition } from './describe-change.ts';

const now = new Date('2027-03-01T12:00:00.000Z');
const DAY_MS = 86_400_000;
const inDays = (days: number): Date => new Date(now.getTime() + days * DAY_MS);
const yearly = { ...perpetual, expiresAt: inDays(10) };

test('a later end of updates is a renewal, and an earlier one a status change', () => {
  const sold = { ...yearly, updatesUntil: inDays(5) };
  const previous = { previous_updates_until: inDays(5).toISOString() };
  for (const updatesUntil of [inDays(6), null]) {
    assert.deepEqual(describeChange(sold, { ...sold, updatesUntil }, now), [
      { type: 'license.renewed', details: previous },
    ]);
  }
  assert.deepEqual(describeChange(sold, { ...sold, updatesUntil: inDays(4) }, now), [
    { type: 'license.status_changed', details: { previous_status: 'active', ...previous } },
  ]);
});

test('describes a new license as created, whatever its status', () => {
  assert.deepEqual(describeChange(null, yearly, now), [{ type: 'license.created', details: {} }]);
});

test('describes a later expiry as a renewal, with the previous expiry', () => {
  const previous = { previous_expires_at: inDays(10).toISOString() };
  for (const expiresAt of [inDays(11), null]) {
    assert.deepEqual(describeChange(yearly, { ...yearly, expiresAt }, now), [
      { type: 'license.renewed', details: previous },
    ]);
  }
});

test('describes a renewal of an expired license as a status change too', () => {
  const over = { ...yearly, expiresAt: inDays(-1) };
  assert.deepEqual(describeChange(over, yearly, now), [
    { type: 'license.renewed', details: { previous_expires_at: inDays(-1).toISOString() } },
    { type: 'license.status_changed', details: { previous_status: 'expired' } },
  ]);
});

test('describes an earlier expiry, as expired if it has passed', () => {
  const previous = {
    previous_status: 'active',
    previous_expires_at: inDays(10).toISOString(),
  };
  assert.deepEqual(describeChange(yearly, { ...yearly, expiresAt: inDays(5) }, now), [
    { type: 'license.status_changed', details: previous },
  ]);
  assert.deepEqual(describeChange(yearly, { ...yearly, expiresAt: inDays(-5) }, now), [
    { type: 'license.expired', details: previous },
  ]);
});

test('describes a suspension and its end as status changes', () => {
  const suspended = { ...yearly, suspendedAt: now };
  assert.deepEqual(describeChange(yearly, suspended, now), [
    { type: 'license.status_changed', details: { previous_status: 'active' } },
  ]);
  assert.deepEqual(describeChange(suspended, yearly, now), [
    { type: 'license.status_changed', details: { previous_status: 'suspended' } },
  ]);
});

test('describes a subscription as past due, then as expired after the grace period', () => {
  const monthly = { ...perpetual, subscription: true, expiresAt: now };
  assert.deepEqual(describeTransition(monthly, now), {
    type: 'license.status_changed',
    details: { previous_status: 'active' },
  });
  assert.deepEqual(describeTransition(monthly, inDays(14)), {
    type: 'license.expired',
    details: { previous_status: 'past_due' },
  });
  assert.equal(describeTransition(monthly, inDays(7)), null);
});

test('describes a change exactly if the status or the expiry differs', () => {
  fc.assert(
    fc.property(anyStatusFacts, anyStatusFacts, (before, after) => {
      const isDescribed = describeChange(before, after, now).length > 0;
      const same =
        licenseStatus(before, now) === licenseStatus(after, now) &&
        before.expiresAt?.getTime() === after.expiresAt?.getTime() &&
        before.updatesUntil?.getTime() === after.updatesUntil?.getTime();
      assert.equal(isDescribed, !same);
    }),
  );
});
