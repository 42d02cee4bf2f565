import assert from 'node:assert/strict';
import { test } from 'node:test';

import { formatSnapshot } from './snapshot-table.ts';
import { formatBytes, formatDuration, formatLatency, formatRatio } from './format.ts';

const host = { hostname: 'db-1', architecture: 'x64', machine_type: 'physical' } as const;

const load = { load_1m: 0.5, load_5m: 0.4, load_15m: 0.3, runnable_tasks: 1, tasks: 2 };

test('prints a machine in columns, without the parts that it lacks', () => {
  const text = formatSnapshot(host, {
    time: '2026-11-21T00:00:00.000Z',
    uptime_seconds: 7_260,
    load,
    disks: [
      {
        device: 'sda',
        kind: 'disk',
        read_bytes_per_second: 2_097_152,
        busy_ratio: 0.42,
        write_latency_seconds: 0.0015,
        read_bytes_total: 1,
        written_bytes_total: 1,
        reads_total: 1,
        writes_total: 1,
      },
    ],
  });
  assert.equal(
    text,
    [
      'db-1  up 2 h 1 min',
      '',
      'Load  0.50  0.40, 0.30',
      '',
      'DISK  READ       WRITE  BUSY  READ LATENCY  WRITE LATENCY',
      'sda   2.10 MB/s  –      42 %  –             1.50 ms',
    ].join('\n'),
  );
});

test('prints a row for each GPU, and marks a sleeping one', () => {
  const text = formatSnapshot(host, {
    time: '2026-11-21T00:00:00.000Z',
    gpus: [
      {
        vendor: 'nvidia',
        index: 0,
        name: 'NVIDIA L4',
        usage_ratio: 0.42,
        memory_used_bytes: 1_073_741_824,
        memory_total_bytes: 24_696_061_952,
        temperature_celsius: 61,
        power_watts: 28.74,
        frequency_hertz: 2_520_000_000,
      },
      { vendor: 'amd', index: 1, pci_address: '0000:0a:00.0', asleep: true },
    ],
  });
  assert.deepEqual(text.split('\n').slice(-3), [
    'GPU               BUSY    MEMORY  SIZE    TEMP   POWER   CLOCK',
    'NVIDIA L4         42 %    1 GiB   23 GiB  61 °C  28.7 W  2.52 GHz',
    'amd 0000:0a:00.0  asleep  –       –       –      –',
  ]);
});

test('distinguishes GPUs of the same name by their index', () => {
  const gpu = { vendor: 'nvidia', name: 'NVIDIA H100' } as const;
  const text = formatSnapshot(host, {
    time: '2026-11-21T00:00:00.000Z',
    gpus: [
      { ...gpu, index: 0 },
      { ...gpu, index: 1 },
      { ...gpu, name: 'NVIDIA L4', index: 2 },
    ],
  });
  const names = text.split('\n').map((line) => line.split('  ')[0]);
  assert.deepEqual(names.slice(-3), ['0: NVIDIA H100', '1: NVIDIA H100', 'NVIDIA L4']);
});

test('replaces control characters in names', () => {
  const process = { pid: 5, name: 'a\u001B[2Jb\n', cpu_cores: 1 };
  const text = formatSnapshot(host, {
    time: '2026-11-21T00:00:00.000Z',
    processes: { count: 1, top_by_cpu: [process], top_by_memory: [] },
  });
  assert.match(text, /a·\[2Jb·/);
});

test('scales figures to readable units', () => {
  assert.deepEqual([0, 1023, 1536, 2 ** 40, undefined].map(formatBytes), [
    '0 B',
    '1023 B',
    '1.50 KiB',
    '1 TiB',
    '–',
  ]);
  assert.deepEqual([0, 0.015, 0.5, 1].map(formatRatio), ['0 %', '1.5 %', '50 %', '100 %']);
  assert.deepEqual([0.000_25, 1.5].map(formatLatency), ['0.25 ms', '1.50 s']);
  assert.deepEqual([59, 3_600, 90_000].map(formatDuration), ['0 min', '1 h 0 min', '1 d 1 h']);
});
