import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readOccurrence, readPeriod, readTime } from './fields.ts';

test('readTime accepts any fraction and zone, truncated to milliseconds', () => {
  const times = {
    '2027-03-01T12:00:00Z': '2027-03-01T12:00:00.000Z',
    '2027-03-01T12:00:00.5Z': '2027-03-01T12:00:00.500Z',
    '2027-03-01T12:00:00.799627Z': '2027-03-01T12:00:00.799Z',
    '2027-03-01T12:00:00.799627882Z': '2027-03-01T12:00:00.799Z',
    '2027-03-01T12:00:00.999999999Z': '2027-03-01T12:00:00.999Z',
    '2027-03-01T12:00:00+02:00': '2027-03-01T10:00:00.000Z',
    '9999-12-31T23:59:59.999999Z': '9999-12-31T23:59:59.999Z',
    '2027-03-01T12:00:00': '2027-03-01T12:00:00.000Z',
  };
  for (const [text, expected] of Object.entries(times)) {
    assert.equal(readTime(text)?.toISOString(), expected, text);
  }
});

test('readTime returns null for invalid times, and those of year 1 and after 9999', () => {
  for (const value of [
    '0001-01-01T00:00:00Z',
    '0001-01-01T00:00:00.000000000Z',
    '9999-12-31T23:59:59-23:59',
    '0000-01-01T00:00:00+23:59',
    '2027-13-01T12:00:00Z',
    '2027-03-01T25:00:00Z',
    '2027-03-01',
    '1 March 2027',
    '',
    1_803_902_400,
    null,
    undefined,
    {},
  ]) {
    assert.equal(readTime(value), null, JSON.stringify(value));
  }
});

test('readOccurrence reads nanoseconds', () => {
  const occurredAt = new Date('2027-03-01T12:00:00.799Z');
  const occurrences = {
    '2027-03-01T12:00:00.799Z': { occurredAt },
    '2027-03-01T12:00:00.799000Z': { occurredAt },
    '2027-03-01T12:00:00.799001Z': { occurredAt, occurredNanos: 1_000 },
    '2027-03-01T14:00:00.799627882+02:00': { occurredAt, occurredNanos: 627_882 },
    '2027-03-01T12:00:00.799999999999Z': { occurredAt, occurredNanos: 999_999 },
    '0001-01-01T00:00:00.000001Z': null,
  };
  for (const [text, expected] of Object.entries(occurrences)) {
    assert.deepEqual(readOccurrence(text), expected, text);
  }
});

test('readPeriod needs start and end', () => {
  const starts_at = '2027-03-01T12:00:00Z';
  const ends_at = '2027-04-01T12:00:00Z';
  assert.deepEqual(readPeriod({ starts_at, ends_at }), {
    startsAt: new Date(starts_at),
    endsAt: new Date(ends_at),
  });
  for (const period of [
    { starts_at },
    { starts_at, ends_at: null },
    { ends_at },
    null,
    undefined,
  ]) {
    assert.equal(readPeriod(period), null);
  }
});
