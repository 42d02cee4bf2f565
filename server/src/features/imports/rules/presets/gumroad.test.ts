import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { addMonths, mergeSales, readSale, type GumroadSale } from './gumroad.ts';

function sale(day: string, more: Readonly<Record<string, string>> = {}): GumroadSale {
  const read = readSale({
    'Purchase ID': `p-${day}`,
    'Purchase Date': day,
    'License Key': 'K',
    Recurrence: 'monthly',
    ...more,
  });
  assert.ok(read !== null && typeof read === 'object');
  return read;
}

const REFUNDED = { 'Fully Refunded?': '1' };

describe('the charges of a subscription', () => {
  test('are paid until a recurrence after the newest one that was not paid back', () => {
    const paid = mergeSales([sale('2026-02-10'), sale('2026-01-10'), sale('2026-03-10', REFUNDED)]);
    assert.deepEqual(
      [paid.sourceId, paid.expiresAt, paid.status, paid.cancelScheduledFor],
      ['p-2026-01-10', new Date('2026-03-10T00:00:00Z'), 'active', null],
    );
  });

  test('that were all paid back are refunded', () => {
    assert.equal(mergeSales([sale('2026-01-10', REFUNDED)]).status, 'refunded');
  });

  test('of which none was made, in a free trial, have an unknown end', () => {
    const trial = mergeSales([sale('2026-01-10', { 'Free trial purchase?': '1' })]);
    assert.equal(trial.expiresAt, 'unknown');
    const charged = mergeSales([
      sale('2026-01-10', { 'Free trial purchase?': '1' }),
      sale('2026-01-17'),
    ]);
    assert.deepEqual(charged.expiresAt, new Date('2026-02-17T00:00:00Z'));
  });
});

test('the totals are no sale, and a sale without a key or an unknown recurrence says so', () => {
  assert.equal(readSale({ 'Purchase ID': 'Totals' }), null);
  assert.equal(readSale({ 'Purchase ID': 'p' }), 'The sale has no license key.');
  assert.throws(
    () => sale('2026-01-01', { Recurrence: 'daily' }),
    /Recurrence "daily" is not known/u,
  );
});

test('a month from the last day of a longer one ends on the last day of the shorter', () => {
  assert.deepEqual(
    addMonths(new Date('2026-01-31T10:00:00Z'), 1),
    new Date('2026-02-28T10:00:00Z'),
  );
  assert.deepEqual(
    addMonths(new Date('2024-02-29T00:00:00Z'), 12),
    new Date('2025-02-28T00:00:00Z'),
  );
  assert.deepEqual(
    addMonths(new Date('2026-11-15T00:00:00Z'), 3),
    new Date('2027-02-15T00:00:00Z'),
  );
});
