import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { ACTIVITIES, countDue, findDueMinute, MINUTES_OF_A_DAY, planDay } from './day-plan.ts';
import { distribute } from './distribute.ts';

const machines = fc.integer({ min: 1, max: 300_000 });
const activities = fc.constantFrom(...ACTIVITIES);

test('distributes a total exactly, and nothing to minutes without weight', () => {
  const weights = fc
    .array(fc.oneof(fc.constant(0), fc.double({ min: 1e-6, max: 1e6, noNaN: true })), {
      minLength: 1,
      maxLength: 200,
    })
    // The last minute takes the rest of the fractions.
    .map((some) => [...some, 1]);
  fc.assert(
    fc.property(fc.nat(2_000_000), weights, (total, some) => {
      const counts = distribute(total, some);
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        total,
      );
      some.forEach((weight, minute) => {
        if (weight === 0) assert.equal(counts[minute], 0);
      });
    }),
  );
});

test('no request is due before the day, and all are due at its end', () => {
  fc.assert(
    fc.property(machines, activities, (number, activity) => {
      const plan = planDay(number, 20);
      assert.equal(countDue(plan, activity, 0), 0);
      assert.equal(countDue(plan, activity, MINUTES_OF_A_DAY), plan[activity].total);
    }),
    { numRuns: 30 },
  );
});

test('the number of due requests never decreases', () => {
  const minutes = fc.double({ min: 0, max: MINUTES_OF_A_DAY, noNaN: true });
  fc.assert(
    fc.property(machines, activities, minutes, minutes, (number, activity, one, two) => {
      const plan = planDay(number, 20);
      const [earlier, later] = one < two ? [one, two] : [two, one];
      assert.ok(countDue(plan, activity, earlier) <= countDue(plan, activity, later));
    }),
    { numRuns: 30 },
  );
});

test('a request counts as due from its minute on, and not before', () => {
  const position = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(machines, activities, position, (number, activity, part) => {
      const plan = planDay(number, 20);
      const { total } = plan[activity];
      fc.pre(total > 0);
      const request = Math.floor(part * total);
      const minute = findDueMinute(plan, activity, request);
      assert.ok(countDue(plan, activity, minute + 1e-6) > request);
      assert.ok(countDue(plan, activity, minute - 1e-6) <= request);
    }),
    { numRuns: 200 },
  );
});

const share = (activity: (typeof ACTIVITIES)[number], fromHour: number, toHour: number): number => {
  const plan = planDay(200_000, 20);
  const [from, to] = [fromHour * 60, toHour * 60];
  return (countDue(plan, activity, to) - countDue(plan, activity, from)) / plan[activity].total;
};

test('half of the machines start between eight and ten', () => {
  const part = share('startup', 8, 10);
  assert.ok(part > 0.4 && part < 0.6, String(part));
});

test('most purchases arrive within the hour around eleven', () => {
  const part = share('purchase', 10.5, 11.5);
  assert.ok(part > 0.7 && part < 0.85, String(part));
});

test('each machine starts once, validates with every trigger, and sends events', () => {
  const plan = planDay(200_000, 20);
  assert.deepEqual(
    ACTIVITIES.map((activity) => [activity, plan[activity].total]),
    [
      ['startup', 200_000],
      ['scheduled', 200_000],
      ['foreground', 160_000],
      ['wake', 100_000],
      ['reconnect', 60_000],
      ['manual', 10_000],
      ['heartbeat', 240_000],
      ['events', 200_000],
      ['trial', 4_000],
      ['purchase', 6_000],
      ['subscription', 1_000],
      ['outreach', 200],
      ['list', 2_400],
      ['report', 240],
    ],
  );
});
