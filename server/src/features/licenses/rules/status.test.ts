import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { LicenseStatusFacts } from './facts.ts';
import {
  daysUntilExpiry,
  GRACE_DAYS,
  isUsable,
  LICENSE_STATUSES,
  licenseStatus,
  publicExpiry,
  usableUntil,
  type LicenseStatus,
} from './status.ts';
import { anyDate, anyStatusFacts, at, DAY_MS, perpetual, plus } from './status-facts.fixture.ts';

const end = at('2026-03-01T00:00:00.000Z');
const fixedTerm: LicenseStatusFacts = { ...perpetual, expiresAt: end };
const subscription: LicenseStatusFacts = { ...fixedTerm, subscription: true };
const graceEnd = plus(end, GRACE_DAYS * DAY_MS);

/** The status a millisecond before, at, and a millisecond after a time. */
function around(facts: LicenseStatusFacts, time: Date): LicenseStatus[] {
  return [-1, 0, 1].map((ms) => licenseStatus(facts, plus(time, ms)));
}

/** Returns the precedence of the status; 0 is the highest. */
function rank(facts: LicenseStatusFacts, now: Date): number {
  return LICENSE_STATUSES.indexOf(licenseStatus(facts, now));
}

type Writable = { -readonly [Field in keyof LicenseStatusFacts]: LicenseStatusFacts[Field] };

test('a perpetual license stays active', () => {
  assert.equal(licenseStatus(perpetual, at('9999-12-31T00:00:00Z')), 'active');
  assert.equal(usableUntil(perpetual), null);
  assert.equal(publicExpiry(perpetual, end), null);
});

test('a fixed term ends to the millisecond, without grace', () => {
  assert.deepEqual(around(fixedTerm, end), ['active', 'expired', 'expired']);
  assert.deepEqual(around({ ...fixedTerm, trial: true }, end), ['active', 'expired', 'expired']);
  const strange = { ...subscription, trial: true };
  assert.deepEqual(around(strange, end), ['active', 'expired', 'expired']);
  assert.deepEqual(usableUntil(fixedTerm), end);
});

test('a subscription without a new event is past due for 14 days, then expired', () => {
  assert.deepEqual(around(subscription, end), ['active', 'past_due', 'past_due']);
  assert.deepEqual(around(subscription, graceEnd), ['past_due', 'expired', 'expired']);
  assert.deepEqual(usableUntil(subscription), graceEnd);
  assert.deepEqual(publicExpiry(subscription, plus(end, DAY_MS)), end);
});

test('a subscription whose cancellation was scheduled for its end has no grace', () => {
  const leaving = { ...subscription, cancelScheduledFor: end };
  assert.deepEqual(around(leaving, end), ['active', 'expired', 'expired']);
  const leavingBefore = { ...subscription, cancelScheduledFor: plus(end, -DAY_MS) };
  assert.deepEqual(around(leavingBefore, end), ['active', 'expired', 'expired']);
});

test('a cancellation scheduled within the grace period ends it, a later one does not extend it', () => {
  const within = { ...subscription, cancelScheduledFor: plus(end, DAY_MS) };
  assert.deepEqual(around(within, plus(end, DAY_MS)), ['past_due', 'expired', 'expired']);
  const after = { ...subscription, cancelScheduledFor: plus(graceEnd, DAY_MS) };
  assert.deepEqual(around(after, graceEnd), ['past_due', 'expired', 'expired']);
});

test('a cancellation and a pause take effect at their own time', () => {
  const time = plus(end, -DAY_MS);
  const canceled = { ...subscription, canceledAt: time };
  assert.deepEqual(around(canceled, time), ['active', 'canceled', 'canceled']);
  assert.deepEqual(publicExpiry(canceled, plus(time, -1)), time);
  assert.deepEqual(publicExpiry(canceled, plus(graceEnd, 1)), time);
  const paused = { ...subscription, pausedAt: time };
  assert.deepEqual(around(paused, time), ['active', 'paused', 'paused']);
  assert.deepEqual(publicExpiry(paused, plus(time, -1)), end);
  assert.deepEqual(publicExpiry(paused, time), time);
});

test('a canceled subscription without a period is not perpetual', () => {
  const canceled = { ...subscription, expiresAt: null, canceledAt: end };
  assert.equal(licenseStatus(canceled, end), 'canceled');
  assert.deepEqual(publicExpiry(canceled, plus(end, DAY_MS)), end);
  assert.deepEqual(usableUntil(canceled), end);
});

test('a refund, a suspension and a revocation take effect as soon as they are stored', () => {
  const later = plus(end, DAY_MS);
  for (const [field, status] of [
    ['revokedAt', 'revoked'],
    ['refundedAt', 'refunded'],
    ['suspendedAt', 'suspended'],
  ] as const) {
    assert.equal(licenseStatus({ ...perpetual, [field]: later }, end), status);
  }
});

test('the fact with the highest precedence determines the status', () => {
  const now = plus(graceEnd, DAY_MS);
  const before = plus(now, -DAY_MS);
  const facts: Writable = {
    ...subscription,
    revokedAt: before,
    refundedAt: before,
    suspendedAt: before,
    pausedAt: before,
    canceledAt: before,
  };
  const lifted: LicenseStatus[] = [licenseStatus(facts, now)];
  for (const field of [
    'revokedAt',
    'refundedAt',
    'suspendedAt',
    'pausedAt',
    'canceledAt',
  ] as const) {
    facts[field] = null;
    lifted.push(licenseStatus(facts, now));
  }
  lifted.push(licenseStatus(facts, plus(end, 1)), licenseStatus(facts, plus(end, -1)));
  assert.deepEqual(lifted, LICENSE_STATUSES);
});

test('an added fact never lowers the precedence of the status', () => {
  const fields = ['revokedAt', 'refundedAt', 'suspendedAt', 'pausedAt', 'canceledAt'] as const;
  fc.assert(
    fc.property(
      anyStatusFacts,
      fc.constantFrom(...fields),
      anyDate,
      anyDate,
      (facts, field, m, now) => {
        fc.pre(facts[field] === null);
        assert.ok(rank({ ...facts, [field]: m }, now) <= rank(facts, now));
      },
    ),
  );
});

test('time alone never makes a license usable again', () => {
  fc.assert(
    fc.property(anyStatusFacts, anyDate, fc.nat(100 * DAY_MS), (facts, now, laterMs) => {
      assert.ok(rank(facts, plus(now, laterMs)) <= rank(facts, now));
    }),
    { numRuns: 500 },
  );
});

test('a usable license is usable exactly until usableUntil', () => {
  fc.assert(
    fc.property(anyStatusFacts, anyDate, (facts, now) => {
      fc.pre(isUsable(licenseStatus(facts, now)));
      const last = usableUntil(facts);
      if (last === null) {
        assert.ok(isUsable(licenseStatus(facts, at('9999-01-01'))));
        return;
      }
      assert.ok(now < last);
      assert.ok(isUsable(licenseStatus(facts, plus(last, -1))));
      assert.ok(!isUsable(licenseStatus(facts, last)));
    }),
    { numRuns: 500 },
  );
});

test('daysUntilExpiry rounds up, is 0 after the end and null for perpetual', () => {
  const days = (ms: number): number | null => daysUntilExpiry(end, plus(end, -ms));
  assert.equal(days(7 * DAY_MS), 7);
  assert.equal(days(7 * DAY_MS - 1), 7);
  assert.equal(days(6 * DAY_MS), 6);
  assert.equal(days(1), 1);
  assert.equal(days(0), 0);
  assert.equal(days(-1), 0);
  assert.equal(days(-30 * DAY_MS), 0);
  assert.equal(daysUntilExpiry(null, end), null);
});
