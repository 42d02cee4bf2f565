import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Recorder } from './recorder.ts';

const MINUTE_MS = 60_000;

for (const minutes of [2.2, 20, 60]) {
  test(`a day of ${minutes} minutes: shows the requests of the last seconds, also minutes after it`, () => {
    const dayMs = minutes * MINUTE_MS;
    const recorder = new Recorder(0, dayMs);
    const begin = dayMs + 6 * MINUTE_MS;
    for (const endedAt of [dayMs + MINUTE_MS, begin]) {
      recorder.record({
        operation: 'validate',
        outcome: '200',
        dueAt: endedAt - 5,
        sentAt: endedAt - 4,
        endedAt,
      });
    }
    const slices = recorder.listSlices(begin).filter(({ perSecond }) => perSecond > 0);
    const [first, last] = slices.map(({ atSeconds }) => atSeconds * 1_000);
    assert.equal(slices.length, 2);
    assert.ok(first !== undefined && last !== undefined && last > first);
    const lengthMs = recorder.listSlices(begin)[1]?.atSeconds ?? Number.NaN;
    assert.ok(recorder.lastSlice(last + lengthMs * 1_000 + 1).perSecond > 0);
    assert.equal(recorder.lastSlice(last + 2 * lengthMs * 1_000 + 1).perSecond, 0);
  });
}

test('measures apart how late requests were sent and how long they took', () => {
  const recorder = new Recorder(0, MINUTE_MS);
  const request = { operation: 'validate', outcome: '200' } as const;
  recorder.record({ ...request, dueAt: 500, sentAt: 2_500, endedAt: 9_500 });
  recorder.record({ ...request, dueAt: 2_600, sentAt: 2_650, endedAt: 2_660 });
  assert.equal(recorder.behindSeconds, 2);
  const behind = recorder.listSlices(9_500).map(({ behindSeconds }) => behindSeconds);
  assert.equal(Math.max(...behind), 2);
  assert.equal(behind.at(-1), 0);
});

test('counts the requests of an operation, whatever their outcome', () => {
  const recorder = new Recorder(0, MINUTE_MS);
  const times = { dueAt: 0, sentAt: 0, endedAt: 1 };
  recorder.record({ operation: 'webhook', outcome: '200', ...times });
  recorder.record({ operation: 'webhook', outcome: '503 overloaded', ...times });
  recorder.record({ operation: 'validate', outcome: '200', ...times });
  assert.equal(recorder.count('webhook'), 2);
});
