import assert from 'node:assert/strict';
import { test } from 'node:test';

import { perpetual } from '#server/features/licenses/rules/status-facts.fixture.ts';

import { toLicenseFields, viewLicense } from './view.ts';

const NOW = new Date('2027-03-01T12:00:00.000Z');

const license = {
  ...perpetual,
  tier: 'personal',
  features: [],
  maxActivations: 2,
  createdAt: NOW,
  keySealed: Buffer.alloc(0),
  keyHint: '2BF3N',
  revealUntil: null,
  customerEmail: null,
  customerName: null,
  note: null,
  isTest: false,
};

test('shows a dispute instead of a manual suspension', () => {
  const statusOf = (facts: Partial<typeof license>): unknown =>
    new Map(toLicenseFields(viewLicense({ ...license, ...facts }, NOW))).get('status');
  assert.equal(statusOf({}), 'active');
  assert.equal(statusOf({ suspendedAt: NOW }), 'suspended');
  assert.equal(statusOf({ disputedAt: NOW }), 'suspended (payment in dispute)');
  assert.equal(statusOf({ disputedAt: NOW, refundedAt: NOW }), 'refunded');
});
