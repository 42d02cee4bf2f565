import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createMetrics } from '#server/metrics.ts';

import { averageSize, readBatchSizes } from './metrics-text.ts';

test('reads the sizes of batches from the metrics of the service', async () => {
  const metrics = createMetrics({ version: 'test' });
  metrics.observeBatch('events', 3, 0.1);
  metrics.observeBatch('events', 5, 0.1);
  metrics.observeBatch('heartbeats', 1, 0.1);
  assert.deepEqual(Object.fromEntries(readBatchSizes(await metrics.render())), {
    events: { sum: 8, count: 2 },
    heartbeats: { sum: 1, count: 1 },
  });
});

test('adds up the processes of a service', () => {
  const text = [
    'latchkey_batch_size_sum{batch="events",worker="1"} 8',
    'latchkey_batch_size_count{batch="events",worker="1"} 2',
    'latchkey_batch_size_sum{batch="events",worker="2"} 4',
    'latchkey_batch_size_count{batch="events",worker="2"} 1',
  ].join('\n');
  assert.deepEqual(readBatchSizes(text).get('events'), { sum: 12, count: 3 });
});

test('averages what was observed since the last reading', () => {
  assert.equal(averageSize({ sum: 8, count: 2 }, { sum: 20, count: 4 }), 6);
  assert.equal(averageSize(undefined, { sum: 20, count: 4 }), 5);
  assert.equal(averageSize({ sum: 8, count: 2 }, { sum: 8, count: 2 }), null);
  assert.equal(averageSize({ sum: 80, count: 20 }, { sum: 8, count: 2 }), null);
});
