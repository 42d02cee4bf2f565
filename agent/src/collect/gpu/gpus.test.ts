import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { AgentGpu } from '@latchkey/contract';
import { Value } from 'typebox/value';

import { copyMachine, emptyMachine } from '../../../test/machine.ts';
import { emptyPrograms, processExists } from '../../../test/programs.ts';
import { waitFor } from '../../../test/wait.ts';

import { BackgroundReader } from '../../read/background-reader.ts';
import type { Roots } from '../../roots.ts';
import { openGpusCollector } from './gpus.ts';

const outputs = fileURLToPath(new URL('../../../test/fixtures/outputs', import.meta.url));
const status = 'sys/bus/pci/drivers/nvidia/0000:01:00.0/power/runtime_status';

function open(roots: Roots, searchPath: string, intervalMs = 1000) {
  const reader = new BackgroundReader(() => 0);
  const gpus = openGpusCollector(roots, reader, { searchPath, intervalMs });
  return {
    collect: (atMs: number) => gpus.collect(atMs),
    idle: (atMs: number) => gpus.idle?.(atMs),
    takeProblem: () => gpus.takeProblem?.() ?? null,
    [Symbol.dispose]: () => {
      gpus.close?.();
      reader.close();
    },
  };
}

test('reads NVIDIA cards from one running program', async () => {
  using machine = copyMachine('gpu-nvidia');
  using programs = emptyPrograms();
  programs.write('nvidia-smi', `cat '${outputs}/nvidia-smi/one-gpu.txt'; exec sleep 1000`);
  using gpus = open(machine.roots, programs.searchPath);
  assert.equal(gpus.collect(0), null);
  assert.deepEqual(await waitFor(() => gpus.collect(0)), [
    {
      vendor: 'nvidia',
      index: 0,
      name: 'NVIDIA GeForce RTX 4090',
      uuid: 'GPU-5c8c1f2e-6b7a-4d0e-9a63-0f4b5b1b7d11',
      pci_address: '0000:01:00.0',
      usage_ratio: 0.42,
      memory_used_bytes: 8_517_582_848,
      memory_total_bytes: 25_757_220_864,
      temperature_celsius: 61,
      power_watts: 287.43,
      power_limit_watts: 450,
      fan_ratio: 0.35,
      frequency_hertz: 2_520_000_000,
      memory_frequency_hertz: 10_501_000_000,
    },
  ]);
  assert.deepEqual(programs.starts(), [
    '--query-gpu=index,uuid,pci.bus_id,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw,power.limit,' +
      'fan.speed,clocks.current.graphics,clocks.current.memory,name --format=csv,noheader,nounits -lms 1000',
  ]);
});

for (const [fixture, tool, output] of [
  ['gpu-nvidia', 'nvidia-smi', 'one-gpu.txt'],
  ['jetson', 'tegrastats', 'orin.txt'],
] as const) {
  test(`stops ${tool} half a minute after the last viewer, and restarts it for the next one`, async () => {
    using machine = copyMachine(fixture);
    using programs = emptyPrograms();
    programs.write(tool, `cat '${outputs}/${tool}/${output}'; exec sleep 1000`);
    using gpus = open(machine.roots, programs.searchPath);
    await waitFor(() => gpus.collect(0));
    const [pid = 0] = programs.pids();
    gpus.idle(30_000);
    assert.ok(await waitFor(() => gpus.collect(1000)));
    gpus.idle(31_001);
    await waitFor(() => !processExists(pid));
    assert.ok(await waitFor(() => gpus.collect(100_000)));
    assert.equal(programs.starts().length, 2);
    assert.equal(gpus.takeProblem(), null);
  });
}

test('restarts an older version at once without the unknown field', async () => {
  using machine = copyMachine('gpu-nvidia');
  using programs = emptyPrograms();
  programs.write(
    'nvidia-smi',
    `case "$1" in *power.limit*) cat '${outputs}/nvidia-smi/old-driver.txt'; exit 2;; esac
     echo "0, GPU-12345678, 00000000:01:00.0, 5, 1, 2, 40, 30.00, 20, 300, 405, GeForce GTX 460"; exec sleep 1000`,
  );
  using gpus = open(machine.roots, programs.searchPath);
  const [gpu] = await waitFor(() => gpus.collect(0));
  assert.deepEqual(
    [gpu?.name, gpu?.power_watts, gpu?.power_limit_watts, gpu?.fan_ratio],
    ['GeForce GTX 460', 30, undefined, 0.2],
  );
  assert.equal(programs.starts().length, 2);
});

test('reports why there are no figures while a driver is updated', async () => {
  using machine = copyMachine('gpu-nvidia');
  using programs = emptyPrograms();
  programs.write('nvidia-smi', `cat '${outputs}/nvidia-smi/version-mismatch.txt'; exit 18`);
  using gpus = open(machine.roots, programs.searchPath);
  const message = await waitFor(() => {
    try {
      assert.equal(gpus.collect(0), null);
      return null;
    } catch (error) {
      return error;
    }
  });
  assert.match(String(message), /nvidia-smi ended: .*Driver\/library version mismatch/);
  assert.equal(gpus.collect(1), null);
});

test('reports a failure of nvidia-smi, and keeps cards of other makers', async () => {
  using machine = copyMachine('gpu-amd');
  using programs = emptyPrograms();
  machine.write('proc/driver/nvidia/version', 'NVRM version\n');
  programs.write('nvidia-smi', 'exit 1');
  using gpus = open(machine.roots, programs.searchPath);
  for (let second = 0; programs.starts().length < 3; second += 1) {
    assert.equal(gpus.collect(second * 1000)?.length, 3);
    await new Promise(setImmediate);
  }
  assert.equal(gpus.takeProblem(), 'nvidia-smi ended: exit code 1');
  assert.equal(gpus.takeProblem(), null);
});

test('does not wake a sleeping card', () => {
  using machine = copyMachine('gpu-nvidia');
  using programs = emptyPrograms();
  programs.write('nvidia-smi', 'exec sleep 1000');
  machine.write(status, 'suspended\n');
  using gpus = open(machine.roots, programs.searchPath);
  const asleep = [{ vendor: 'nvidia', index: 0, pci_address: '0000:01:00.0', asleep: true }];
  for (const atMs of [0, 1000, 100_000]) assert.deepEqual(gpus.collect(atMs), asleep);
  assert.deepEqual(programs.starts(), []);
});

test('pauses a card that was idle for a minute, and reads it again after it woke up', async () => {
  using machine = copyMachine('gpu-nvidia');
  using programs = emptyPrograms();
  programs.write(
    'nvidia-smi',
    'while :; do echo "0, GPU-12345678, 00000000:01:00.0, 0, 1, 2, $((i += 1)), 9, 80, 0, 300, 405, Laptop GPU"; sleep 0.01; done',
  );
  using gpus = open(machine.roots, programs.searchPath, 4000);
  let degrees: number | undefined = undefined;
  for (const atMs of [0, 10_000, 20_000, 30_000, 40_000, 50_000]) {
    const before = degrees;
    await waitFor(() => {
      degrees = gpus.collect(atMs)?.[0]?.temperature_celsius;
      return degrees !== undefined && degrees !== before;
    });
  }
  gpus.collect(60_000);
  const [pid = 0] = programs.pids();
  await waitFor(() => !processExists(pid));
  assert.equal(gpus.collect(61_000)?.[0]?.usage_ratio, 0);
  const facts = {
    vendor: 'nvidia',
    index: 0,
    name: 'Laptop GPU',
    uuid: 'GPU-12345678',
    pci_address: '0000:01:00.0',
  };
  assert.deepEqual(gpus.collect(74_999), [facts]);
  machine.write(status, 'suspended\n');
  assert.deepEqual(gpus.collect(75_000), [{ ...facts, asleep: true }]);
  assert.equal(programs.pids().length, 1);
  machine.write(status, 'active\n');
  await waitFor(() => gpus.collect(76_000)?.[0]?.usage_ratio === 0 && programs.pids().length === 2);
});

test('returns null without a driver or without its program', () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  programs.write('nvidia-smi', 'exec sleep 1000');
  using gpus = open(machine.roots, programs.searchPath);
  assert.equal(gpus.collect(0), null);
  assert.deepEqual(programs.starts(), []);
  using laptop = copyMachine('gpu-nvidia');
  using without = open(laptop.roots, '/nowhere');
  assert.equal(without.collect(0), null);
});

test('reads the GPU of a Jetson from tegrastats, with shared memory', async () => {
  using machine = copyMachine('jetson');
  using programs = emptyPrograms();
  programs.write('tegrastats', `cat '${outputs}/tegrastats/orin.txt'; exec sleep 1000`);
  programs.write('nvidia-smi', 'exit 1');
  using gpus = open(machine.roots, programs.searchPath);
  assert.deepEqual(await waitFor(() => gpus.collect(0)), [
    {
      vendor: 'nvidia',
      index: 0,
      name: 'NVIDIA Jetson Orin Nano Developer Kit',
      usage_ratio: 0.62,
      memory_used_bytes: 3_651_141_632,
      memory_total_bytes: 7_990_149_120,
      memory_shared: true,
      temperature_celsius: 44.093,
      frequency_hertz: 305_000_000,
    },
  ]);
  assert.deepEqual(programs.starts(), ['--interval 1000']);
});

test('returns cards that match the schema', async () => {
  using programs = emptyPrograms();
  programs.write('nvidia-smi', `cat '${outputs}'/nvidia-smi/*.txt; exec sleep 1000`);
  programs.write('tegrastats', `cat '${outputs}'/tegrastats/nano.txt; exec sleep 1000`);
  for (const name of ['gpu-amd', 'gpu-i915', 'gpu-xe', 'gpu-nvidia', 'jetson']) {
    using machine = copyMachine(name);
    using gpus = open(machine.roots, programs.searchPath);
    const collected = await waitFor(() => {
      gpus.collect(0);
      const part = gpus.collect(1000);
      return part?.some((gpu) => gpu.frequency_hertz !== undefined) === true && part;
    });
    const faults = collected.flatMap((gpu) => [...Value.Errors(AgentGpu, gpu)]);
    assert.deepEqual(faults, [], name);
  }
});
