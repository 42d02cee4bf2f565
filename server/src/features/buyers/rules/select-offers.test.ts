import assert from 'node:assert/strict';
import { test } from 'node:test';

import { perpetual } from '../../licenses/rules/status-facts.fixture.ts';
import { selectOffers, type OfferedLicense } from './select-offers.ts';

const NOW = new Date('2027-03-01T12:00:00Z');
const PAST = new Date('2027-02-01T12:00:00Z');
const FIVE_DAYS_AGO = new Date('2027-02-24T12:00:00Z');
const FUTURE = new Date('2027-04-01T12:00:00Z');

const PERPETUAL: OfferedLicense = { ...perpetual, isTest: false };

for (const [name, changes, renewal, upgrade] of [
  ['a license without an end is upgraded only', {}, false, true],
  ['a license with an end is renewed', { expiresAt: FUTURE }, true, true],
  ['a license that has ended is renewed', { expiresAt: PAST }, true, true],
  ['the updates of a license without an end are renewed', { updatesUntil: PAST }, true, true],
  [
    'a running subscription is not paid twice',
    { subscription: true, expiresAt: FUTURE },
    false,
    true,
  ],
  [
    'a late payment of a subscription is not a renewal',
    { subscription: true, expiresAt: FIVE_DAYS_AGO },
    false,
    true,
  ],
  ['a canceled subscription is begun again', { subscription: true, canceledAt: PAST }, true, true],
  ['a trial is not renewed', { trial: true, expiresAt: FUTURE }, false, false],
  ['a test license is not renewed', { isTest: true, expiresAt: FUTURE }, false, false],
  ['a disputed license is not renewed', { disputedAt: PAST, expiresAt: FUTURE }, false, false],
] as const) {
  test(name, () => {
    assert.deepEqual(selectOffers({ ...PERPETUAL, ...changes }, NOW), { renewal, upgrade });
  });
}
