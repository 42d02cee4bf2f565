import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import type { EventIn } from '@latchkey/contract';
import * as fc from 'fast-check';

import { correctTimes } from './correct-times.ts';
import { addDays, dayOf } from './days.ts';
import { createNameFilter, selectEvents } from './select-events.ts';

const NOW = new Date('2027-03-01T12:00:00.000Z');
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const ALL = createNameFilter([]);

function eventOf(more: Partial<EventIn>): EventIn {
  return { event_id: randomUUID(), name: 'n', occurred_at: NOW.toISOString(), ...more };
}

function isSelected(name: string): boolean {
  return selectEvents([eventOf({ name })], ALL).selected.length === 1;
}

function at(offsetMs: number): Date {
  return new Date(NOW.getTime() + offsetMs);
}

describe('selectEvents', () => {
  test('selects every event or drops it for one reason', () => {
    const anyEvent = fc.record({
      event_id: fc.oneof(fc.uuid(), fc.constantFrom('00000000-0000-0000-0000-000000000000')),
      name: fc.string({ unit: 'binary', maxLength: 130 }),
      occurred_at: fc.constant(NOW.toISOString()),
      props: fc.dictionary(fc.string({ maxLength: 70 }), fc.string({ maxLength: 20 }), {
        maxKeys: 40,
      }),
    });
    fc.assert(
      fc.property(fc.array(anyEvent), (events) => {
        const { selected, drops } = selectEvents(events, ALL);
        const dropped = [...drops.values()].reduce((sum, count) => sum + count, 0);
        assert.equal(selected.length + dropped, events.length);
        assert.equal(new Set(selected.map(({ eventId }) => eventId)).size, selected.length);
      }),
    );
  });

  test('accepts names of 1 to 120 printable characters of any script', () => {
    const valid = ['a', ' ', 'x'.repeat(120), 'über', '開始', '🙂'.repeat(120)];
    assert.deepEqual(
      valid.filter((name) => !isSelected(name)),
      [],
    );
    const invalid = [
      '',
      'x'.repeat(121),
      'a\tb',
      'a\u2028b',
      '\u200b',
      'a\u0085',
      '🙂'.repeat(121),
    ];
    assert.deepEqual(invalid.filter(isSelected), []);
  });

  test('does not count a dropped event as a duplicate', () => {
    const event_id = randomUUID();
    const { selected, drops } = selectEvents(
      [eventOf({ event_id, name: '' }), eventOf({ event_id })],
      ALL,
    );
    assert.deepEqual([selected.length, [...drops]], [1, [['name', 1]]]);
  });

  test('counts characters, not UTF-16 units', () => {
    const props = { ['🙂'.repeat(64)]: `${'🙂'.repeat(1_024)}!` };
    const [event] = selectEvents([eventOf({ props })], ALL).selected;
    assert.deepEqual(event?.props, { ['🙂'.repeat(64)]: '🙂'.repeat(1_024) });
    const tooLong = { ['🙂'.repeat(65)]: 'x' };
    assert.deepEqual([...selectEvents([eventOf({ props: tooLong })], ALL).drops], [['props', 1]]);
  });

  test('accepts 32 properties with keys of 64 characters', () => {
    const keys = Array.from({ length: 32 }, (_, index) => String(index).padStart(64, 'k'));
    const props = Object.fromEntries(keys.map((key) => [key, 'v']));
    assert.deepEqual(selectEvents([eventOf({ props })], ALL).selected[0]?.props, props);
  });
});

describe('createNameFilter', () => {
  test('matches a star with any characters, all else literally', () => {
    const filter = createNameFilter(['app_*', 'a.b', '*.done', 'x*y*z']);
    const names = [
      'app_',
      'app_started',
      'a.b',
      'acb',
      'export.done',
      'xyz',
      'x1y2z',
      'xzy',
      'App_',
    ];
    assert.deepEqual(names.filter(filter), [
      'app_',
      'app_started',
      'a.b',
      'export.done',
      'xyz',
      'x1y2z',
    ]);
  });

  test('agrees with a regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '_', '\n', '🙂'), maxLength: 8 });
    const pattern = fc
      .array(text, { minLength: 1, maxLength: 4 })
      .map((pieces) => pieces.join('*'));
    fc.assert(
      fc.property(pattern, text, (glob, name) => {
        const pieces = glob.split('*').map((piece) => RegExp.escape(piece));
        const expression = new RegExp(`^${pieces.join('.*')}$`, 'su');
        assert.equal(createNameFilter([glob])(name), expression.test(name));
      }),
      { numRuns: 2_000 },
    );
  });

  test('takes linear time for every name and pattern', () => {
    const filter = createNameFilter([`${'*a'.repeat(50)}*b`]);
    const names = Array.from({ length: 500 }, () => 'a'.repeat(120));
    const startedAt = performance.now();
    assert.ok(!names.some(filter));
    // A backtracking regular expression would need days.
    assert.ok(performance.now() - startedAt < 5_000);
  });

  test('accepts all names without patterns', () => {
    assert.equal(ALL('anything'), true);
  });
});

describe('correctTimes', () => {
  const anyOffsets = fc.array(fc.integer({ min: -400 * DAY_MS, max: 3 * DAY_MS }), {
    minLength: 1,
  });

  test('returns no time more than five minutes in the future', () => {
    fc.assert(
      fc.property(anyOffsets, (offsets) => {
        const corrected = correctTimes(
          offsets.map((offset) => at(offset).toISOString()),
          NOW,
        );
        for (const { occurredAt } of corrected) {
          assert.ok(Date.parse(occurredAt) <= NOW.getTime() + 5 * MINUTE_MS);
        }
      }),
    );
  });

  test('keeps the distances between events up to a day ahead', () => {
    fc.assert(
      fc.property(anyOffsets, (offsets) => {
        const near = offsets.filter((offset) => offset <= DAY_MS);
        const corrected = correctTimes(
          near.map((offset) => at(offset).toISOString()),
          NOW,
        );
        const shifts = new Set(
          corrected.map(
            ({ occurredAt }, index) => at(near[index] ?? 0).getTime() - Date.parse(occurredAt),
          ),
        );
        assert.ok(shifts.size <= 1);
      }),
    );
  });

  test('returns the client time where it was corrected', () => {
    const times = [at(10 * MINUTE_MS), at(0), at(2 * DAY_MS)].map((time) => time.toISOString());
    assert.deepEqual(correctTimes(times, NOW), [
      { occurredAt: NOW.toISOString(), clientOccurredAt: times[0] },
      { occurredAt: at(-10 * MINUTE_MS).toISOString(), clientOccurredAt: times[1] },
      { occurredAt: NOW.toISOString(), clientOccurredAt: times[2] },
    ]);
    const valid = [at(5 * MINUTE_MS), at(-DAY_MS)].map((time) => time.toISOString());
    assert.deepEqual(
      correctTimes(valid, NOW),
      valid.map((occurredAt) => ({ occurredAt, clientOccurredAt: null })),
    );
  });

  test('shifts no time before the year 1', () => {
    const first = '0001-01-01T00:00:00.000Z';
    const ahead = at(10 * MINUTE_MS).toISOString();
    assert.deepEqual(correctTimes([first, ahead], NOW), [
      { occurredAt: first, clientOccurredAt: first },
      { occurredAt: NOW.toISOString(), clientOccurredAt: ahead },
    ]);
  });

  test('reads a time without an offset as UTC', () => {
    assert.deepEqual(correctTimes(['2027-02-28T10:00:00'], NOW), [
      { occurredAt: '2027-02-28T10:00:00.000Z', clientOccurredAt: null },
    ]);
  });
});

test('computes UTC days across months and leap days', () => {
  assert.equal(dayOf(new Date('2027-12-31T23:59:59.999Z')), '2027-12-31');
  assert.deepEqual(
    [addDays('2028-02-28', 1), addDays('2027-12-31', 1), addDays('2027-03-01', -1)],
    ['2028-02-29', '2028-01-01', '2027-02-28'],
  );
});
