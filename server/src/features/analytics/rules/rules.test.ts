import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import type { EventIn } from '@latchkey/contract';
import * as fc from 'fast-check';

import { correctTimes } from './correct-times.ts';
import { addDays, dayOf } from './days.ts';
import { judgeEvents, createNameFilter } from './select-events.ts';

const NOW = new Date('2027-03-01T12:00:00.000Z');
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const ALL = createNameFilter([]);

function eventOf(more: Partial<EventIn>): EventIn {
  return { event_id: randomUUID(), name: 'n', occurred_at: NOW.toISOString(), ...more };
}

function isTaken(name: string): boolean {
  return judgeEvents([eventOf({ name })], ALL).good.length === 1;
}

function at(offsetMs: number): Date {
  return new Date(NOW.getTime() + offsetMs);
}

describe('judgeEvents', () => {
  test('each event is good or has one reason, whatever it holds', () => {
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
        const { good, drops } = judgeEvents(events, ALL);
        const dropped = [...drops.values()].reduce((sum, count) => sum + count, 0);
        assert.equal(good.length + dropped, events.length);
        assert.equal(new Set(good.map(({ eventId }) => eventId)).size, good.length);
      }),
    );
  });

  test('names are of 1 to 120 printable characters, of any script', () => {
    const good = ['a', ' ', 'x'.repeat(120), 'über', '開始', '🙂'.repeat(120)];
    assert.deepEqual(
      good.filter((name) => !isTaken(name)),
      [],
    );
    const bad = ['', 'x'.repeat(121), 'a\tb', 'a\u2028b', '\u200b', 'a\u0085', '🙂'.repeat(121)];
    assert.deepEqual(bad.filter(isTaken), []);
  });

  test('a dropped event does not make another one with its id a repetition', () => {
    const event_id = randomUUID();
    const { good, drops } = judgeEvents(
      [eventOf({ event_id, name: '' }), eventOf({ event_id })],
      ALL,
    );
    assert.deepEqual([good.length, [...drops]], [1, [['name', 1]]]);
  });

  test('characters are counted, not the units that they are made of', () => {
    const props = { ['🙂'.repeat(64)]: `${'🙂'.repeat(1_024)}!` };
    const [event] = judgeEvents([eventOf({ props })], ALL).good;
    assert.deepEqual(event?.props, { ['🙂'.repeat(64)]: '🙂'.repeat(1_024) });
    const tooLong = { ['🙂'.repeat(65)]: 'x' };
    assert.deepEqual([...judgeEvents([eventOf({ props: tooLong })], ALL).drops], [['props', 1]]);
  });

  test('32 properties with keys of 64 characters are taken', () => {
    const keys = Array.from({ length: 32 }, (_, index) => String(index).padStart(64, 'k'));
    const props = Object.fromEntries(keys.map((key) => [key, 'v']));
    assert.deepEqual(judgeEvents([eventOf({ props })], ALL).good[0]?.props, props);
  });
});

describe('createNameFilter', () => {
  test('a star stands for any characters, all else for itself', () => {
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

  test('a name fits a pattern exactly when a regular expression says so', () => {
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

  test('no name takes long to be looked through, whatever the patterns', () => {
    const filter = createNameFilter([`${'*a'.repeat(50)}*b`]);
    const names = Array.from({ length: 500 }, () => 'a'.repeat(120));
    const startedAt = performance.now();
    assert.ok(!names.some(filter));
    // A regular expression would take days.
    assert.ok(performance.now() - startedAt < 5_000);
  });

  test('without patterns all names are taken', () => {
    assert.equal(ALL('anything'), true);
  });
});

describe('correctTimes', () => {
  const anyOffsets = fc.array(fc.integer({ min: -400 * DAY_MS, max: 3 * DAY_MS }), {
    minLength: 1,
  });

  test('nothing lies in the future afterwards, but for five minutes', () => {
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

  test('the pauses between events stay, but for those more than a day ahead', () => {
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

  test('what the client said is kept where it is changed, and only there', () => {
    const told = [at(10 * MINUTE_MS), at(0), at(2 * DAY_MS)].map((time) => time.toISOString());
    assert.deepEqual(correctTimes(told, NOW), [
      { occurredAt: NOW.toISOString(), toldAt: told[0] },
      { occurredAt: at(-10 * MINUTE_MS).toISOString(), toldAt: told[1] },
      { occurredAt: NOW.toISOString(), toldAt: told[2] },
    ]);
    const right = [at(5 * MINUTE_MS), at(-DAY_MS)].map((time) => time.toISOString());
    assert.deepEqual(
      correctTimes(right, NOW),
      right.map((occurredAt) => ({ occurredAt, toldAt: null })),
    );
  });

  test('nothing is moved to before the first moment that there is, however old it is', () => {
    const first = '0001-01-01T00:00:00.000Z';
    const ahead = at(10 * MINUTE_MS).toISOString();
    assert.deepEqual(correctTimes([first, ahead], NOW), [
      { occurredAt: first, toldAt: first },
      { occurredAt: NOW.toISOString(), toldAt: ahead },
    ]);
  });

  test('a time without an offset is one of UTC', () => {
    assert.deepEqual(correctTimes(['2027-02-28T10:00:00'], NOW), [
      { occurredAt: '2027-02-28T10:00:00.000Z', toldAt: null },
    ]);
  });
});

test('days are those of UTC and follow one another', () => {
  assert.equal(dayOf(new Date('2027-12-31T23:59:59.999Z')), '2027-12-31');
  assert.deepEqual(
    [addDays('2028-02-28', 1), addDays('2027-12-31', 1), addDays('2027-03-01', -1)],
    ['2028-02-29', '2028-01-01', '2027-02-28'],
  );
});
