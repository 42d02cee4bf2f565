import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { AgentGpu, AgentSnapshot } from '@latchkey/contract';

import { exampleHost, exampleSnapshot } from '../../../test/example-snapshot.ts';
import { findNotices } from '../../notices.ts';
import {
  decideDelayMs,
  readMessage,
  toAdmissionUrl,
  toFleetUrl,
  toStreamUrl,
} from './connection.ts';
import {
  describeHost,
  formatAmount,
  formatBitRate,
  formatByteRate,
  formatBytes,
  formatCelsius,
  formatCount,
  formatDuration,
  formatLatency,
  formatPercent,
  nameGpu,
} from './format.ts';
import { assignColumns } from './layout.ts';
import { splitMemory } from './metric-values.ts';
import { describeNotice } from './notices.ts';
import { listTiles } from './tiles.ts';

const { time } = exampleSnapshot;

/** Replaces no-break spaces by plain ones, which are visible in a test. */
function show(texts: readonly string[]): string[] {
  return texts.map((text) => text.replaceAll('\u00a0', ' '));
}

/** Describes the problems of a snapshot. */
function describeNotices(snapshot: AgentSnapshot): string[] {
  return findNotices(snapshot).map(describeNotice);
}

test('formats figures with two or three digits and their unit', () => {
  assert.deepEqual(show([0, 512, 1023.9, 1536, 10 * 1024 ** 3, 2 ** 60].map(formatBytes)), [
    '0 B',
    '512 B',
    '1.00 KiB',
    '1.50 KiB',
    '10.0 GiB',
    '1024 PiB',
  ]);
  assert.deepEqual(show([0, 999.9, 64_900_000].map(formatByteRate)), [
    '0 B/s',
    '1.00 kB/s',
    '64.9 MB/s',
  ]);
  assert.deepEqual(show([0, 0.004, 0.0994, 0.0999, 1, 2.43].map(formatPercent)), [
    '0 %',
    '0.4 %',
    '9.9 %',
    '10 %',
    '100 %',
    '243 %',
  ]);
  assert.deepEqual(show([0.00035, 0.0012, 2.5].map(formatLatency)), [
    '350 µs',
    '1.20 ms',
    '2.50 s',
  ]);
  assert.deepEqual(show([0, 0.5, 12.34, 1234].map(formatAmount)), ['0', '0.50', '12.3', '1.23 k']);
  assert.deepEqual(show([59, 61, 3660, 96_265].map(formatDuration)), [
    '59 s',
    '1 min',
    '1 h 1 min',
    '1 d 2 h',
  ]);
});

test('joins figure and unit by a no-break space', () => {
  assert.equal(formatBytes(1536), '1.50\u00a0KiB');
  assert.equal(formatDuration(3660), '1\u00a0h 1\u00a0min');
});

test('formats temperatures in whole degrees, without a negative zero', () => {
  assert.deepEqual(show([51.4, -7.6, -0.4].map(formatCelsius)), ['51 °C', '-8 °C', '0 °C']);
});

test('formats link speeds without trailing zeros', () => {
  assert.deepEqual(show([10e9, 2.5e9, 1e9, 100e6, 0].map(formatBitRate)), [
    '10 Gbit/s',
    '2.5 Gbit/s',
    '1 Gbit/s',
    '100 Mbit/s',
    '0 bit/s',
  ]);
});

test('rounds large counts', () => {
  assert.deepEqual(show([0, 12, 99_999, 3_580_246_881].map(formatCount)), [
    '0',
    '12',
    '99999',
    '3.58 G',
  ]);
});

test('distinguishes GPUs of the same name by their index', () => {
  const gpus: AgentGpu[] = [
    { vendor: 'nvidia', index: 0, name: 'NVIDIA H100' },
    { vendor: 'nvidia', index: 1, name: 'NVIDIA H100', usage_ratio: 1 },
    { vendor: 'nvidia', index: 2, name: 'NVIDIA L4' },
    { vendor: 'amd', index: 0 },
  ];
  assert.deepEqual(
    gpus.map((gpu) => nameGpu(gpu, gpus)),
    ['0: NVIDIA H100', '1: NVIDIA H100', 'NVIDIA L4', 'AMD 0'],
  );
  assert.equal(listTiles({ time, gpus })[0]?.detail, '1: NVIDIA H100');
});

test('doubles the delay up to half a minute, with jitter', () => {
  assert.deepEqual(
    [0, 1, 2, 5, 1000].map((attempt) => decideDelayMs(attempt, 1)),
    [1000, 2000, 4000, 30_000, 30_000],
  );
  assert.equal(decideDelayMs(0, 0), 500);
});

test('places each card in the shortest column', () => {
  assert.deepEqual(assignColumns([300, 100, 100, 100], 2), [0, 1, 1, 1]);
  assert.deepEqual(assignColumns([10, 10, 10], 3), [0, 1, 2]);
  assert.deepEqual(assignColumns([10, 10], 1), [0, 0]);
});

test('splits memory into pieces that add up to the total', () => {
  const { memory } = exampleSnapshot;
  assert.ok(memory !== undefined);
  assert.deepEqual(
    splitMemory(memory).map(({ kind, bytes }) => [kind, bytes]),
    [
      ['used', 3000],
      ['cache', 4000],
      ['free', 1000],
    ],
  );
  const pieces = splitMemory({ ...memory, zfs_arc_bytes: 9000, free_bytes: 6000 });
  assert.equal(
    pieces.reduce((sum, { bytes }) => sum + bytes, 0),
    8000,
  );
});

test('lists problems in sentences', () => {
  assert.deepEqual(describeNotices({ time }), []);
  assert.deepEqual(describeNotices(exampleSnapshot), ['/nfs does not answer.']);
  const pi = { now: true, since_boot: true };
  const none = { now: false, since_boot: true };
  assert.deepEqual(
    show(
      describeNotices({
        time,
        units: { failed: ['a.service'] },
        sensors: {
          temperatures: [
            { id: 'a', chip: 'cpu', temperature_celsius: 101, critical_celsius: 100 },
            { id: 'b', chip: 'odd', temperature_celsius: 20, critical_celsius: 0 },
          ],
        },
        batteries: [{ name: 'BAT0', status: 'discharging', charge_ratio: 0.05 }],
        raspberry_pi: {
          under_voltage: pi,
          frequency_capped: none,
          throttled: none,
          soft_temperature_limit: none,
        },
      }),
    ),
    [
      'The unit a.service failed.',
      'cpu is at 101 °C.',
      'The power supply is too weak.',
      'BAT0 is at 5.0 %.',
    ],
  );
});

test('lists failing and worn disks', () => {
  const disk = {
    device: 'sda',
    read_at: time,
    failing: false,
    prefail_now: false,
    prefail_past: true,
    error_log: true,
    self_test_failed: false,
    wear_ratio: 0.99,
  };
  assert.deepEqual(describeNotices({ time, disk_health: [disk] }), []);
  const notices = describeNotices({
    time,
    disk_health: [
      { ...disk, failing: true, prefail_now: true },
      { ...disk, device: 'sdb', passed: false },
      { ...disk, device: 'sdc', prefail_now: true, self_test_failed: true },
      { ...disk, device: 'nvme0n1', wear_ratio: 1.04 },
    ],
  });
  assert.deepEqual(show(notices), [
    'The disk sda is failing.',
    'The disk sdb is failing.',
    'The disk sdc is about to fail.',
    'The disk sdc failed its self-test.',
    'The disk nvme0n1 is worn 104 %.',
  ]);
});

test('does not list full read-only filesystems', () => {
  const full = { mount_point: '/snap', device: 'a', type: 'squashfs', usage_ratio: 1 };
  assert.deepEqual(describeNotices({ time, filesystems: [{ ...full, read_only: true }] }), []);
  assert.deepEqual(show(describeNotices({ time, filesystems: [{ ...full, read_only: false }] })), [
    '/snap is 100 % full.',
  ]);
});

test('lists a tile for each figure that the machine has', () => {
  assert.deepEqual(listTiles({ time }), []);
  assert.deepEqual(
    listTiles(exampleSnapshot).map(({ id, value, detail }) => show([id, value, detail])),
    [
      ['cpu', '25 %', 'load 0.50'],
      ['memory', '38 %', '2.93 KiB of 7.81 KiB'],
      ['disk', '1.54 kB/s', 'read 512 B/s\nwritten 1.02 kB/s'],
      ['network', '6.14 kB/s', 'in 2.05 kB/s\nout 4.10 kB/s'],
      ['space', '42 %', '/'],
      ['heat', '51 °C', 'Package id 0'],
    ],
  );
});

test('derives the URL of the stream from that of the page, without query and fragment', () => {
  assert.equal(toStreamUrl('https://a.example:4096/?x=1#y'), 'wss://a.example:4096/');
  assert.equal(toStreamUrl('https://a.example/latchkey'), 'wss://a.example/latchkey');
  assert.equal(toStreamUrl('http://127.0.0.1/'), 'ws://127.0.0.1/');
  assert.equal(
    toAdmissionUrl('https://a.example/latchkey?x#y'),
    'https://a.example/latchkey?admission',
  );
});

test('derives the URL of the page of many machines at any path of a proxy', () => {
  assert.equal(toFleetUrl('https://a.example:4096/?x=1#y'), 'https://a.example:4096/fleet');
  assert.equal(toFleetUrl('https://a.example/latchkey'), 'https://a.example/latchkey/fleet');
  assert.equal(toFleetUrl('https://a.example/latchkey/'), 'https://a.example/latchkey/fleet');
});

test('describes a machine by its known facts', () => {
  assert.deepEqual(describeHost(exampleHost), ['Debian GNU/Linux 12 (bookworm)', 'x64', 'virtual']);
});

test('ignores unknown messages of a later agent', () => {
  assert.equal(readMessage('{"type":"hello","schema_version":2}'), null);
  assert.equal(readMessage('{"type":"news"}'), null);
  assert.equal(readMessage('5'), null);
  assert.equal(
    readMessage(JSON.stringify({ type: 'snapshot', snapshot: { time } }))?.type,
    'snapshot',
  );
});
