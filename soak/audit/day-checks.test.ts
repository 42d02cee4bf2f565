import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Recorder } from '../load/recorder.ts';
import { checkMemory, checkWebhooks } from './day-checks.ts';

function recordWebhooks(count: number): Recorder {
  const recorder = new Recorder(0, 60_000);
  const times = { dueAt: 0, sentAt: 0, endedAt: 1 };
  for (let each = 0; each < count; each++)
    recorder.record({ operation: 'webhook', outcome: '200', ...times });
  return recorder;
}

test('allows one refused webhook in a thousand, and mentions it', () => {
  const recorder = recordWebhooks(1_000);
  const promise = 'Without a fault, at most 1 in 1,000 webhooks is answered 503';
  assert.deepEqual(checkWebhooks(recorder, 0), { promise, compared: 1_000, problems: [] });
  const one = { promise: `${promise}; 1 of 1000 were`, compared: 1_000, problems: [] };
  assert.deepEqual(checkWebhooks(recorder, 1), one);
  assert.deepEqual(checkWebhooks(recorder, 2).problems, ['2 of 1000 were']);
});

test('limits the memory of each process', () => {
  const sample = { atSeconds: 0, databaseMib: null, walMib: null, batchSizes: new Map() };
  const samples = [600, null, 1_025].map((memoryMib) => ({ ...sample, memoryMib }));
  assert.deepEqual(checkMemory(samples, 2).problems, ['it took 1025 MiB']);
  assert.deepEqual(checkMemory(samples, 3), {
    promise: 'The service takes at most 1536 MiB of memory',
    compared: 2,
    problems: [],
  });
});
