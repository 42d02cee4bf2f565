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
      recorder.record({ operation: 'validate', outcome: '200', dueAt: endedAt - 5, endedAt });
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
