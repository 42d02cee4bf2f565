import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parseDateTime } from './date-time.ts';

const valid: readonly (readonly [string, string])[] = [
  ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.000Z'],
  ['2026-11-20T10:00', '2026-11-20T10:00:00.000Z'],
  ['2026-11-20 10:00:00.5', '2026-11-20T10:00:00.500Z'],
  ['2026-11-20t10:00:00,123456z', '2026-11-20T10:00:00.123Z'],
  ['2026-11-20T10:00:00.000000009Z', '2026-11-20T10:00:00.000Z'],
  ['2026-11-20T10:00:00.99999999999999999999Z', '2026-11-20T10:00:00.999Z'],
  ['2026-11-20T10:00:00+0530', '2026-11-20T04:30:00.000Z'],
  ['2026-11-20T10:00:00-05:00', '2026-11-20T15:00:00.000Z'],
  ['2026-11-20T10:00:00+15:59', '2026-11-19T18:01:00.000Z'],
  ['2026-11-20T10:00:00-15:59', '2026-11-21T01:59:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
];

for (const [text, instant] of valid) {
  test(`parses ${text} as ${instant}`, () => {
    assert.equal(parseDateTime(text)?.toISOString(), instant);
  });
}

const invalid: readonly (readonly [string, string])[] = [
  ['', 'an empty text'],
  ['yesterday', 'a word'],
  ['2026-11-20', 'a bare date'],
  ['1700000000', 'a number in text'],
  ['2026-11-20T10', 'no minutes'],
  ['2026-11-20T10:00:60Z', 'a leap second, which Date does not support'],
  ['2026-11-20T24:00:00Z', 'an hour 24'],
  ['2026-11-20T10:60:00Z', 'a minute 60'],
  ['2026-02-29T10:00:00Z', 'a 29 February outside of a leap year'],
  ['2026-13-01T10:00:00Z', 'a month 13'],
  ['0000-01-01T00:00:00Z', 'the year 0, which PostgreSQL rejects'],
  ['0001-01-01T00:00:00+00:01', 'an instant before the year 1'],
  ['9999-12-31T23:59:59-00:01', 'an instant after the year 9999'],
  ['2026-11-20T10:00:00+16:00', 'an offset that PostgreSQL rejects'],
  ['2026-11-20T10:00:00+05:60', 'an offset of 60 minutes'],
  ['2026-11-20T10:00:00+05', 'an offset without minutes'],
  [' 2026-11-20T10:00:00Z', 'a leading space'],
  ['2026-11-20T10:00:00Z\n', 'a trailing line break'],
  ['２０２６-11-20T10:00:00Z', 'digits of another script'],
];

for (const [text, what] of invalid) {
  test(`rejects ${what}: ${JSON.stringify(text)}`, () => {
    assert.equal(parseDateTime(text), undefined);
  });
}

test('parses every time that toISOString returns', () => {
  fc.assert(
    fc.property(
      fc.date({
        min: new Date('0001-01-01T00:00:00.000Z'),
        max: new Date('9999-12-31T23:59:59.999Z'),
        noInvalidDate: true,
      }),
      (date) => {
        assert.deepEqual(parseDateTime(date.toISOString()), date);
      },
    ),
  );
});
