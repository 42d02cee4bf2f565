import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { addUpdateDays, computeUpdatesUntil, type UpdatesEntry } from './updates-until.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2027, 0, 1);

function day(number: number): Date {
  return new Date(START + number * DAY_MS);
}

/** A payment for a year, on a day. */
function paid(on: number, more: Partial<UpdatesEntry> = {}): UpdatesEntry {
  return {
    licenseId: 'license',
    provider: 'paddle',
    transactionId: `txn_${on}`,
    lineKey: 'once:0',
    kind: 'renewal',
    days: 365,
    endsAt: null,
    paidAt: day(on),
    withdrawnAt: null,
    ...more,
  };
}

const sale = paid(0, { kind: 'sale' });

function changed(on: number, endsAt: Date | null): UpdatesEntry {
  return paid(on, {
    provider: '',
    transactionId: '',
    lineKey: '',
    kind: 'manual',
    days: null,
    endsAt,
  });
}

test('adds a renewal to the end of updates', () => {
  assert.deepEqual(computeUpdatesUntil([sale]), day(365));
  assert.deepEqual(computeUpdatesUntil([paid(300), sale]), day(730));
});

test('adds a renewal after the end to its payment', () => {
  assert.deepEqual(computeUpdatesUntil([sale, paid(500)]), day(865));
});

test('takes back the days of a refunded renewal, and no others', () => {
  const refunded = paid(300, { withdrawnAt: day(310) });
  assert.deepEqual(computeUpdatesUntil([sale, refunded]), day(365));
  assert.deepEqual(computeUpdatesUntil([sale, refunded, paid(320)]), day(730));
});

test('ends updates with the payment if the only one is refunded', () => {
  assert.deepEqual(computeUpdatesUntil([{ ...sale, withdrawnAt: day(9) }]), day(0));
});

test('follows a subscription to its end, and adds a renewal to that', () => {
  const subscription = paid(10, { days: null, endsAt: day(400) });
  assert.deepEqual(computeUpdatesUntil([sale, subscription]), day(400));
  assert.deepEqual(computeUpdatesUntil([sale, subscription, paid(20)]), day(765));
});

test('leaves all updates to a license that was sold with them', () => {
  assert.equal(computeUpdatesUntil([]), null);
  assert.equal(computeUpdatesUntil([paid(5)]), null);
  assert.equal(computeUpdatesUntil([sale, changed(3, null), paid(5)]), null);
});

test('extends from the end that an operator set', () => {
  assert.deepEqual(computeUpdatesUntil([sale, changed(100, day(200))]), day(200));
  assert.deepEqual(computeUpdatesUntil([paid(150), sale, changed(100, day(200))]), day(565));
});

test('never passes the last date that can be written', () => {
  const end = addUpdateDays(new Date('9999-12-01T00:00:00Z'), 36_500, day(0));
  assert.equal(end.toISOString(), '9999-12-31T23:59:59.999Z');
});

const anyEntry = fc
  .record({
    on: fc.integer({ min: 0, max: 1_000 }),
    kind: fc.constantFrom('sale' as const, 'renewal' as const, 'renewal' as const),
    days: fc.option(fc.integer({ min: 1, max: 800 }), { nil: null, freq: 3 }),
    isWithdrawn: fc.boolean(),
    line: fc.integer({ min: 0, max: 9 }),
  })
  .map(({ on, kind, days, isWithdrawn, line }) =>
    paid(on, {
      kind,
      days,
      endsAt: days === null ? day(on + 30) : null,
      withdrawnAt: isWithdrawn ? day(on + 1) : null,
      lineKey: `once:${line}`,
    }),
  );
const anyEntries = fc.uniqueArray(anyEntry, {
  maxLength: 8,
  selector: ({ transactionId, lineKey }) => `${transactionId} ${lineKey}`,
});

test('does not depend on the order of entries', () => {
  fc.assert(
    fc.property(
      anyEntries.chain((entries) =>
        fc.tuple(fc.constant(entries), fc.shuffledSubarray(entries, { minLength: entries.length })),
      ),
      ([entries, shuffled]) => {
        assert.deepEqual(computeUpdatesUntil(shuffled), computeUpdatesUntil(entries));
      },
    ),
  );
});

test('a withdrawn renewal counts like none, and any other never shortens', () => {
  fc.assert(
    fc.property(anyEntries, fc.integer({ min: 0, max: 1_000 }), (others, on) => {
      const entries = [sale, ...others];
      const one = paid(on, { lineKey: 'once:other' });
      const before = computeUpdatesUntil(entries);
      const withdrawn = computeUpdatesUntil([...entries, { ...one, withdrawnAt: day(on) }]);
      const after = computeUpdatesUntil([...entries, one]);
      assert.deepEqual(withdrawn, before);
      assert.ok(before !== null && after !== null && after >= before);
      assert.ok(after.getTime() - on * DAY_MS - START >= 365 * DAY_MS);
    }),
  );
});
