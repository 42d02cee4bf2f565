import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';

import { generateLicenseKey } from '#server/lib/license-key.ts';

import { findWeakKeys } from './find-weak-keys.ts';

describe('findWeakKeys', () => {
  test('finds numbered keys weak, however long their common prefix is', () => {
    const keys = [
      'WIDGETMAKER-PROFESSIONAL-2023-839204',
      'WIDGETMAKER-PROFESSIONAL-2023-112233',
      'WIDGETMAKER-PROFESSIONAL-2023-556677',
    ];
    assert.deepEqual(findWeakKeys(keys, 'LK'), [true, true, true]);
  });

  test('finds random keys strong, also with groups of letters only', () => {
    const keys = ['QWZR-93HF-2MZP-R4WD', 'HTKM-7Q2X-PB5N-ZD8A', 'ACME-0F2K-9XQ4-T7RB'];
    assert.deepEqual(findWeakKeys(keys, 'LK'), [false, false, false]);
  });

  test('ignores the leading letters of a single key', () => {
    assert.deepEqual(findWeakKeys(['SUPERWIDGETMAKER-839204'], 'LK'), [true]);
    assert.deepEqual(findWeakKeys(['ACME-0F2K-9XQ4-T7RB-8WZN'], 'LK'), [false]);
  });

  test('ignores a repeated line', () => {
    const key = '550e8400-e29b-41d4-a716-446655440000';
    assert.deepEqual(findWeakKeys([key, key], 'LK'), [false, false]);
  });

  test('never finds a generated key weak', () => {
    const key = generateLicenseKey('LK', randomBytes);
    const neighbour = `${key.slice(0, -1)}0`;
    assert.equal(findWeakKeys([key, neighbour], 'LK')[0], false);
  });
});
