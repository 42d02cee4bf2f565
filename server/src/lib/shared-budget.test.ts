import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { SharedBudget } from './shared-budget.ts';

/** Reserves one unit after the other until one is refused; returns how many were granted and why no more. */
function takeAll(budget: SharedBudget, holder: string): [number, string] {
  for (let taken = 0; ; taken++) {
    const outcome = budget.reserve(holder, 1);
    if (outcome !== 'granted') return [taken, outcome];
  }
}

test('grants a greedy holder half, and each further one half of what is left', () => {
  const budget = new SharedBudget(1_000);
  assert.deepEqual(takeAll(budget, 'a'), [500, 'share_exceeded']);
  assert.deepEqual(takeAll(budget, 'b'), [250, 'share_exceeded']);
  assert.deepEqual(takeAll(budget, 'c'), [125, 'exhausted']);
  assert.equal(budget.reserve('d', 20), 'granted');
  assert.equal(budget.reserve('a', 1), 'exhausted');
});

test('grants again what was released', () => {
  const budget = new SharedBudget(100);
  assert.equal(budget.reserve('a', 50), 'granted');
  assert.equal(budget.reserve('a', 1), 'share_exceeded');
  budget.release('a', 30);
  assert.equal(budget.used, 20);
  assert.equal(budget.reserve('a', 30), 'granted');
});

test('reserves beyond its limits only when asked to', () => {
  const budget = new SharedBudget(10);
  budget.reserveUnlimited('probe', 20);
  assert.equal(budget.used, 20);
  assert.equal(budget.isNearlyExhausted, true);
  assert.equal(budget.reserve('a', 1), 'exhausted');
  budget.release('probe', 20);
  assert.equal(budget.isNearlyExhausted, false);
  assert.equal(budget.reserve('a', 5), 'granted');
});

test('never grants more than the whole, and grants a newcomer a share', () => {
  const reservation = fc.record({ holder: fc.integer({ min: 0, max: 5 }), amount: fc.nat(300) });
  fc.assert(
    fc.property(fc.array(reservation, { maxLength: 200 }), (reservations) => {
      const budget = new SharedBudget(1_000);
      const granted = reservations.filter(
        ({ holder, amount }) => budget.reserve(String(holder), amount) === 'granted',
      );
      assert.ok(budget.used <= 1_000);
      // Six holders leave a seventh of the whole, of which a newcomer gets half.
      assert.equal(budget.reserve('newcomer', Math.floor(1_000 / 128)), 'granted');
      budget.release('newcomer', Math.floor(1_000 / 128));
      for (const { holder, amount } of granted) budget.release(String(holder), amount);
      assert.equal(budget.used, 0);
    }),
  );
});
