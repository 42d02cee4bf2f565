import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyMachine, emptyMachine } from '../../test/machine.ts';

import { until } from '../../test/wait.ts';
import { BackgroundReader, type SlowFile } from '../read/background-reader.ts';
import type { Roots } from '../roots.ts';

import { openCpuCollector } from './cpu.ts';

function open(roots: Roots, reader = new BackgroundReader(() => 0)) {
  return openCpuCollector(roots, reader);
}

test('reports times at first, and usage from the second snapshot', () => {
  using machine = copyMachine('bare-vm');
  const cpu = open(machine.roots);
  const first = cpu.collect(0);
  assert.deepEqual(first?.times, {
    user_seconds_total: 100,
    nice_seconds_total: 2,
    system_seconds_total: 30,
    iowait_seconds_total: 5,
    interrupt_seconds_total: 1,
    steal_seconds_total: 2,
    idle_seconds_total: 800,
  });
  assert.deepEqual(Object.keys(first), ['logical_count', 'times', 'cores']);
  machine.write(
    'proc/stat',
    'cpu 10040 200 3020 80110 510 14 96 210 9 9\ncpu0 6040 100 1520 40020 250 9 51 110 9 9\ncpu1 4000 100 1500 40090 260 5 45 100 0 0\nintr 5\n',
  );
  const second = cpu.collect(1000);
  assert.deepEqual(second?.shares, {
    user_ratio: 0.2,
    nice_ratio: 0,
    system_ratio: 0.1,
    iowait_ratio: 0.05,
    interrupt_ratio: 0.05,
    steal_ratio: 0.05,
    idle_ratio: 0.55,
  });
  assert.equal(second.usage_ratio, 0.4);
  assert.deepEqual(
    second.cores.map(({ core, usage_ratio }) => [core, usage_ratio]),
    [
      [0, 0.8],
      [1, 0],
    ],
  );
});

test('does not count guest time twice', () => {
  using machine = emptyMachine();
  machine.write('proc/stat', 'cpu 0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n');
  const cpu = open(machine.roots);
  cpu.collect(0);
  machine.write('proc/stat', 'cpu 50 0 0 50 0 0 0 0 50 0\ncpu0 50 0 0 50 0 0 0 0 50 0\n');
  assert.equal(cpu.collect(1000)?.usage_ratio, 0.5);
});

test('counts falling iowait as 0', () => {
  using machine = emptyMachine();
  machine.write('proc/stat', 'cpu 0 0 0 100 50 0 0 0\ncpu0 0 0 0 100 50 0 0 0\n');
  const cpu = open(machine.roots);
  cpu.collect(0);
  machine.write('proc/stat', 'cpu 25 0 0 175 40 0 0 0\ncpu0 25 0 0 175 40 0 0 0\n');
  assert.deepEqual(cpu.collect(1000)?.shares?.iowait_ratio, 0);
  assert.equal(cpu.collect(1000)?.shares, undefined, 'no time passed');
});

test('drops an offline core, and starts a new baseline when it returns', () => {
  using machine = copyMachine('bare-vm');
  const cpu = open(machine.roots);
  const both = 'cpu 0 0 0 200 0 0 0 0\ncpu0 0 0 0 100 0 0 0 0\ncpu1 0 0 0 100 0 0 0 0\n';
  machine.write('proc/stat', both);
  cpu.collect(0);
  machine.write('proc/stat', 'cpu 0 0 0 300 0 0 0 0\ncpu0 0 0 0 200 0 0 0 0\n');
  const alone = cpu.collect(1000);
  assert.equal(alone?.logical_count, 1);
  assert.deepEqual(
    alone.cores.map(({ core }) => core),
    [0],
  );
  machine.write(
    'proc/stat',
    'cpu 90 0 0 400 0 0 0 0\ncpu0 0 0 0 300 0 0 0 0\ncpu1 90 0 0 100 0 0 0 0\n',
  );
  assert.equal(cpu.collect(2000)?.cores[1]?.usage_ratio, undefined);
  machine.write(
    'proc/stat',
    'cpu 140 0 0 450 0 0 0 0\ncpu0 0 0 0 300 0 0 0 0\ncpu1 140 0 0 150 0 0 0 0\n',
  );
  assert.equal(cpu.collect(3000)?.cores[1]?.usage_ratio, 0.5);
});

test('leaves out usage after a reset of all counters', () => {
  using machine = copyMachine('bare-vm');
  const cpu = open(machine.roots);
  cpu.collect(0);
  machine.write('proc/stat', 'cpu 1 0 0 1 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0\n');
  assert.equal(cpu.collect(1000)?.usage_ratio, undefined);
});

test('reads 512 cores and an interrupt line longer than the buffer', () => {
  using machine = emptyMachine();
  const numbers = Array.from({ length: 512 }, (_, core) => core);
  const table = (busy: number, all: number) =>
    [
      `cpu ${512 * busy} 0 0 ${512 * (all - busy)} 0 0 0 0 0 0`,
      ...numbers.map((core) => `cpu${core} ${busy} 0 0 ${all - busy} 0 0 0 0 0 0`),
      `intr ${'123456789 '.repeat(10_000)}`,
      'btime 1795219200\n',
    ].join('\n');
  machine.write('proc/stat', table(0, 0));
  const cpu = open(machine.roots);
  cpu.collect(0);
  machine.write('proc/stat', table(250, 1000));
  const part = cpu.collect(1000);
  assert.equal(part?.logical_count, 512);
  assert.equal(part.usage_ratio, 0.25);
  assert.equal(part.cores[511]?.usage_ratio, 0.25);
});

test('reports the clock of each core in hertz', async () => {
  using machine = copyMachine('raspberry-pi');
  machine.write('sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq', '2400000\n');
  const reader = new BackgroundReader(() => 0);
  const cpu = open(machine.roots, reader);
  cpu.collect(0);
  await until(() => !reader.isStuck());
  const part = cpu.collect(1_000);
  assert.equal(part?.frequency_hertz, 1_725_000_000);
  assert.equal(part.cores[3]?.frequency_hertz, 2_400_000_000);
  cpu.close?.();
});

test('does not wait for clocks that are slow to read', () => {
  using machine = copyMachine('raspberry-pi');
  const asked: string[] = [];
  const hangs = (path: string): SlowFile => ({ read: () => void asked.push(path), close() {} });
  const cpu = open(machine.roots, new BackgroundReader(() => 0, hangs));
  for (const atMs of [0, 5_000, 10_000]) {
    const part = cpu.collect(atMs);
    assert.deepEqual([part?.logical_count, part?.frequency_hertz], [4, undefined]);
  }
  assert.equal(asked.length, 2, 'both background reads are in progress');
});

test('returns null without /proc/stat', () => {
  using machine = emptyMachine();
  assert.equal(open(machine.roots).collect(0), null);
});
