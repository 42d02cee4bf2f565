import assert from 'node:assert/strict';
import { test } from 'node:test';

import { exampleSnapshot } from '../../../test/example-snapshot.ts';
import { toMetricValues, toPastMetricValues } from './metric-values.ts';

test('converts a snapshot into values, with sums of physical disks, without absent ones', () => {
  assert.deepEqual(toMetricValues(exampleSnapshot), {
    'cpu.usage': 0.25,
    'cpu.iowait': 0,
    'cpu.steal': 0,
    'load.1m': 0.5,
    'load.5m': 0.25,
    'load.15m': 0.1,
    'memory.used': 0.375,
    'swap.used': 0.25,
    'disk.read': 512,
    'disk.write': 1024,
    'network.receive': 2048,
    'network.transmit': 4096,
    'temperature.coretemp.0/temp1': 51,
    'temperature.nvme.0/temp1': -2.5,
  });
  assert.deepEqual(toMetricValues({ time: exampleSnapshot.time }), {});
});

test('converts the history into the same keys', () => {
  const past = toPastMetricValues({
    time: exampleSnapshot.time,
    cpu_usage_ratio: 0.25,
    load_1m: 0.5,
    memory_usage_ratio: 0.375,
    disk_read_bytes_per_second: 512,
    disk_write_bytes_per_second: 1024,
    receive_bytes_per_second: 2048,
    transmit_bytes_per_second: 4096,
  });
  const live = toMetricValues(exampleSnapshot);
  assert.equal(Object.keys(past).length, 7);
  for (const [key, value] of Object.entries(past)) assert.equal(live[key], value, key);
});

test('adds values for each GPU and for the ZFS cache', () => {
  const values = toMetricValues({
    time: exampleSnapshot.time,
    gpus: [
      { vendor: 'nvidia', index: 0, usage_ratio: 0.5, memory_used_bytes: 1, memory_total_bytes: 4 },
      { vendor: 'amd', index: 0, asleep: true },
    ],
    memory: {
      total_bytes: 8,
      used_bytes: 2,
      available_bytes: 6,
      usage_ratio: 0.25,
      free_bytes: 1,
      buffers_bytes: 0,
      cached_bytes: 3,
      zfs_arc_bytes: 2,
    },
  });
  assert.deepEqual(values, {
    'memory.used': 0.25,
    'memory.arc': 0.25,
    'gpu.nvidia.0.usage': 0.5,
    'gpu.nvidia.0.memory': 0.25,
  });
});
