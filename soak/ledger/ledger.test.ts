import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { planDay } from '../plan/day-plan.ts';
import { Counters, Facts } from './counters.ts';
import { createLedger } from './ledger.ts';
import { UuidColumn } from './uuids.ts';

test('counts acknowledged and unanswered changes apart, and refused ones not at all', () => {
  const counters = new Counters(2);
  for (const acknowledgement of ['acknowledged', 'acknowledged', 'unanswered', 'refused'] as const)
    counters.record(1, acknowledgement);
  assert.deepEqual([...counters.acknowledged], [0, 2]);
  assert.deepEqual([...counters.unanswered], [0, 1]);
});

test('an acknowledged change stays acknowledged, a refused one is not possible', () => {
  const facts = new Facts(3);
  facts.record(0, 'unanswered');
  facts.record(0, 'acknowledged');
  facts.record(0, 'unanswered');
  facts.record(1, 'unanswered');
  facts.record(2, 'refused');
  const seen = [0, 1, 2].map((index) => [facts.isAcknowledged(index), facts.isPossible(index)]);
  assert.deepEqual(seen, [
    [true, true],
    [false, true],
    [false, false],
  ]);
  assert.deepEqual([facts.countAcknowledged(), facts.countPossible()], [1, 2]);
});

test('a change that was not requested is not one that was never acknowledged', () => {
  const facts = new Facts(4);
  facts.record(0, 'refused');
  facts.record(1, 'unanswered');
  facts.record(2, 'acknowledged');
  const sent = [0, 1, 2, 3].map((index) => facts.isSent(index));
  assert.deepEqual(sent, [true, true, true, false]);
  assert.equal(facts.countUnacknowledged(), 2);
});

test('stores UUIDs', () => {
  const uuids = new UuidColumn(3);
  const one = randomUUID();
  uuids.set(1, one);
  assert.deepEqual([uuids.get(0), uuids.get(1), uuids.get(2)], [null, one, null]);
});

test('the ledger of 200,000 machines takes less than 3 MB', () => {
  const before = process.memoryUsage().arrayBuffers;
  const ledger = createLedger(planDay(200_000, 20), 200_000);
  assert.equal(ledger.validations.size, 200_000);
  assert.ok(process.memoryUsage().arrayBuffers - before < 3_000_000);
});
