import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyMachine, type Machine } from '../../test/machine.ts';

import { openProcessesCollector } from './processes.ts';

function showProcess(
  machine: Machine,
  {
    pid,
    name = 'job',
    ticks = 0,
    start = 1,
    pages = 1,
  }: Record<'pid', number> & {
    name?: string;
    ticks?: number;
    start?: number;
    pages?: number;
  },
): void {
  machine.write(
    `proc/${pid}/stat`,
    `${pid} (${name}) S 1 1 1 0 -1 0 0 0 0 0 ${ticks} 0 0 0 20 0 1 0 ${start} 1 ${pages} 0 0\n`,
  );
}

test('lists processes by memory at first, and by CPU from the second snapshot', () => {
  using machine = copyMachine('bare-vm');
  const processes = openProcessesCollector(machine.roots);
  const first = processes.collect(0);
  assert.equal(first?.count, 5);
  assert.deepEqual(first.top_by_cpu, []);
  assert.deepEqual(first.top_by_memory.slice(0, 2), [
    { pid: 900, name: 'postgres', memory_bytes: 204_800_000 },
    { pid: 950, name: 'node', memory_bytes: 81_920_000 },
  ]);
  showProcess(machine, { pid: 950, name: 'node', ticks: 1300, start: 950, pages: 20_000 });
  assert.deepEqual(processes.collect(2000)?.top_by_cpu, [
    { pid: 950, name: 'node', cpu_cores: 1.5, memory_bytes: 81_920_000 },
  ]);
});

test('parses names with brackets and spaces', () => {
  using machine = copyMachine('bare-vm');
  const part = openProcessesCollector(machine.roots).collect(0);
  assert.deepEqual(
    part?.top_by_memory.find(({ pid }) => pid === 901),
    { pid: 901, name: 'a) R 1 (b', memory_bytes: 409_600 },
  );
});

test('never reports arguments', () => {
  using machine = copyMachine('bare-vm');
  const part = openProcessesCollector(machine.roots).collect(0);
  assert.doesNotMatch(JSON.stringify(part), /secret|password/);
});

test('reports no rate for a reused pid', () => {
  using machine = copyMachine('bare-vm');
  const processes = openProcessesCollector(machine.roots);
  processes.collect(0);
  showProcess(machine, { pid: 901, name: 'new', ticks: 9000, start: 5000 });
  const part = processes.collect(1000);
  assert.deepEqual(part?.top_by_cpu, []);
  assert.deepEqual(
    part.top_by_memory.find(({ pid }) => pid === 901),
    { pid: 901, name: 'new', memory_bytes: 4096 },
  );
});

test('drops a process that ended', () => {
  using machine = copyMachine('bare-vm');
  const processes = openProcessesCollector(machine.roots);
  processes.collect(0);
  machine.remove('proc/900');
  const part = processes.collect(1000);
  assert.equal(part?.count, 4);
  assert.equal(
    part.top_by_memory.some(({ pid }) => pid === 900),
    false,
  );
});

test('reads listed processes each time, and very many others in rotation', () => {
  using machine = copyMachine('bare-vm');
  for (let pid = 2_000; pid < 2_500; pid += 1) showProcess(machine, { pid });
  const processes = openProcessesCollector(machine.roots);
  const findBusy = (second: number) =>
    processes.collect(second * 1000)?.top_by_cpu.find(({ pid }) => pid === 2_400);
  for (let second = 0; second < 3; second += 1) assert.equal(findBusy(second), undefined);
  showProcess(machine, { pid: 2_400, ticks: 600 });
  const seen = [3, 4, 5].map(findBusy);
  assert.equal(
    seen.some((each) => each !== undefined),
    true,
    'all are read within three ticks',
  );
  showProcess(machine, { pid: 2_400, ticks: 700 });
  const before = findBusy(6)?.cpu_cores;
  showProcess(machine, { pid: 2_400, ticks: 800 });
  assert.equal(findBusy(7)?.cpu_cores, 1, `read each second since; before, ${before}`);
});

test('returns null when processes of other users are hidden', () => {
  using machine = copyMachine('bare-vm');
  const processes = openProcessesCollector(machine.roots);
  machine.remove('proc/1/stat');
  assert.equal(processes.collect(0), null, 'hidepid=1 lists processes that are unreadable');
  machine.remove('proc/1');
  assert.equal(processes.collect(1000), null);
});

test('reports no rate over too short an interval', () => {
  using machine = copyMachine('bare-vm');
  const processes = openProcessesCollector(machine.roots);
  processes.collect(0);
  showProcess(machine, { pid: 950, name: 'node', ticks: 1001, start: 950, pages: 20_000 });
  assert.deepEqual(processes.collect(2)?.top_by_cpu, []);
  showProcess(machine, { pid: 950, name: 'node', ticks: 1100, start: 950, pages: 20_000 });
  assert.equal(processes.collect(1000)?.top_by_cpu[0]?.cpu_cores, 1);
});
