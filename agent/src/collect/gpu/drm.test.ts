import assert from 'node:assert/strict';
import { realpathSync } from 'node:fs';
import { test } from 'node:test';

import { type Machine, copyMachine, emptyMachine } from '../../../test/machine.ts';
import { until } from '../../../test/wait.ts';

import { BackgroundReader } from '../../read/background-reader.ts';

import { openDrmCollector } from './drm.ts';

const card0 = 'sys/class/drm/card0';

function open({ roots }: Machine) {
  const reader = new BackgroundReader(() => 0);
  const pausedDevices = new Set<string>();
  const gpus = openDrmCollector(roots, reader, 1000, pausedDevices);
  return {
    pausedDevices,
    collect: (atMs: number) => gpus.collect(atMs),
    idle: (atMs: number) => gpus.idle?.(atMs),
    /** Collects, waits for the started reads, and collects again. */
    async collectRead(atMs: number) {
      gpus.collect(atMs);
      await until(() => !reader.isStuck());
      return gpus.collect(atMs);
    },
    [Symbol.dispose]: () => {
      gpus.close?.();
      reader.close();
    },
  };
}

test('reads a discrete and an integrated AMD card, and does not wake a sleeping one', async () => {
  using machine = copyMachine('gpu-amd');
  using gpus = open(machine);
  assert.deepEqual(await gpus.collectRead(0), [
    {
      vendor: 'amd',
      index: 0,
      name: 'Radeon RX 6800 XT',
      model_id: '1002:73bf',
      pci_address: '0000:03:00.0',
      usage_ratio: 0.37,
      memory_used_bytes: 2_147_483_648,
      memory_total_bytes: 17_163_091_968,
      host_memory_used_bytes: 67_108_864,
      temperature_celsius: 54,
      power_watts: 128,
      power_limit_watts: 255,
      fan_ratio: 0.4,
      frequency_hertz: 1_830_000_000,
      memory_frequency_hertz: 1_000_000_000,
    },
    {
      vendor: 'amd',
      index: 1,
      model_id: '1002:15bf',
      pci_address: '0000:c4:00.0',
      usage_ratio: 0.04,
      memory_used_bytes: 419_430_400,
      memory_total_bytes: 536_870_912,
      host_memory_used_bytes: 1_073_741_824,
      temperature_celsius: 45,
      power_watts: 8.034,
      frequency_hertz: 800_000_000,
      memory_frequency_hertz: 2_800_000_000,
    },
    {
      vendor: 'amd',
      index: 2,
      model_id: '1002:7480',
      pci_address: '0000:0a:00.0',
      asleep: true,
    },
  ]);
});

test('reads a card that wakes up, and stops when it falls asleep', async () => {
  using machine = copyMachine('gpu-amd');
  using gpus = open(machine);
  await gpus.collectRead(0);
  machine.write('sys/class/drm/card2/device/power/runtime_status', 'active\n');
  machine.write(`${card0}/device/power/runtime_status`, 'suspending\n');
  const [first, , third] = (await gpus.collectRead(1000)) ?? [];
  assert.deepEqual([first?.asleep, first?.usage_ratio], [true, undefined]);
  assert.deepEqual([third?.asleep, third?.memory_total_bytes], [undefined, 8_573_157_376]);
  machine.write(`${card0}/device/power/runtime_status`, 'active\n');
  assert.equal(gpus.collect(2000)?.[0]?.usage_ratio, undefined);
});

test('uses the hotspot without an edge sensor, and rejects 511 °C', async () => {
  using machine = copyMachine('gpu-amd');
  const hwmon = `${card0}/device/hwmon/hwmon4`;
  machine.remove(`${hwmon}/temp1_input`);
  machine.write(`${hwmon}/temp2_input`, '63000\n');
  using gpus = open(machine);
  const celsius = async (atMs: number) => (await gpus.collectRead(atMs))?.[0]?.temperature_celsius;
  assert.equal(await celsius(0), 63);
  machine.write(`${hwmon}/temp2_input`, '511000\n');
  assert.equal(await celsius(1000), undefined);
});

/** Sets the temperature to the time in tenths of a degree, and returns that of the first card at these times. */
async function listDegrees(machine: Machine, seconds: readonly number[]) {
  using gpus = open(machine);
  const degrees: (number | undefined)[] = [];
  for (const second of seconds) {
    machine.write(`${card0}/device/hwmon/hwmon4/temp1_input`, `${second * 100}\n`);
    const celsius = (await gpus.collectRead(second * 1000))?.[0]?.temperature_celsius;
    degrees.push(celsius === undefined ? undefined : Math.round(celsius * 10));
  }
  return degrees;
}

test('pauses an idle card for 15 seconds after a minute, then every ten minutes', async () => {
  using machine = copyMachine('gpu-amd');
  machine.write(`${card0}/device/gpu_busy_percent`, '0\n');
  assert.deepEqual(
    await listDegrees(machine, [0, 59, 60, 63, 64, 74, 75, 76, 674, 675, 676, 689, 690]),
    [0, 59, 59, 59, undefined, undefined, 75, 76, 674, 674, 674, undefined, 690],
  );
});

test('lists a paused card for other collectors while it is paused', async () => {
  using machine = copyMachine('gpu-amd');
  machine.write(`${card0}/device/gpu_busy_percent`, '0\n');
  using gpus = open(machine);
  const listLeftAlone = async (atMs: number): Promise<string[]> => {
    await gpus.collectRead(atMs);
    return [...gpus.pausedDevices];
  };
  const device = realpathSync(`${machine.roots.sys}/class/drm/card0/device`);
  assert.deepEqual(await listLeftAlone(0), []);
  assert.deepEqual(await listLeftAlone(60_000), [device]);
  assert.deepEqual(await listLeftAlone(74_999), [device]);
  assert.deepEqual(await listLeftAlone(75_000), []);
  assert.deepEqual(await listLeftAlone(675_000), [device]);
  machine.write(`${card0}/device/power/runtime_status`, 'suspended\n');
  assert.deepEqual(await listLeftAlone(676_000), []);
});

test('lists all cards for other collectors while nobody watches them', async () => {
  using machine = copyMachine('gpu-amd');
  using gpus = open(machine);
  gpus.idle(0);
  const devices = ['card0', 'card1', 'card2'].map((card) =>
    realpathSync(`${machine.roots.sys}/class/drm/${card}/device`),
  );
  assert.deepEqual([...gpus.pausedDevices], devices);
  await gpus.collectRead(1000);
  assert.deepEqual([...gpus.pausedDevices], []);
  gpus.idle(2000);
  assert.deepEqual([...gpus.pausedDevices], devices);
});

test('never pauses a busy card, nor one that may not sleep', async () => {
  for (const [file, text] of [
    ['gpu_busy_percent', '1'],
    ['power/control', 'on'],
  ] as const) {
    using machine = copyMachine('gpu-amd');
    machine.write(`${card0}/device/gpu_busy_percent`, '0\n');
    machine.write(`${card0}/device/${file}`, `${text}\n`);
    const seconds = [0, 60, 61, 700, 701];
    assert.deepEqual(await listDegrees(machine, seconds), seconds);
  }
});

test('leaves out missing, unreadable and implausible files, and reads them once they appear', async () => {
  using machine = copyMachine('gpu-amd');
  using gpus = open(machine);
  for (const file of ['mem_info_vram_used', 'pp_dpm_sclk', 'hwmon', 'product_name']) {
    machine.remove(`${card0}/device/${file}`);
  }
  machine.write(`${card0}/device/gpu_busy_percent`, '65535\n');
  machine.write(`${card0}/device/mem_info_gtt_used`, 'garbage\n');
  machine.write(`${card0}/device/pp_dpm_mclk`, '0: 96Mhz \n1: 456Mhz \n');
  const facts = {
    vendor: 'amd',
    index: 0,
    model_id: '1002:73bf',
    pci_address: '0000:03:00.0',
    memory_total_bytes: 17_163_091_968,
  };
  assert.deepEqual((await gpus.collectRead(0))?.[0], facts);
  machine.write(`${card0}/device/mem_info_vram_used`, '5\n');
  assert.deepEqual((await gpus.collectRead(10_000))?.[0], { ...facts, memory_used_bytes: 5 });
});

test('reads i915: time outside the sleep state is not usage, and power is energy over time', () => {
  using machine = copyMachine('gpu-i915');
  using gpus = open(machine);
  const facts = {
    vendor: 'intel',
    index: 0,
    model_id: '8086:56a0',
    pci_address: '0000:03:00.0',
    temperature_celsius: 48,
    power_limit_watts: 190,
    frequency_hertz: 2_050_000_000,
  };
  assert.deepEqual(gpus.collect(0), [
    facts,
    {
      vendor: 'intel',
      index: 1,
      model_id: '8086:5917',
      pci_address: '0000:00:02.0',
      frequency_hertz: 300_000_000,
    },
  ]);
  machine.write(`${card0}/gt/gt0/rc6_residency_ms`, '500500\n');
  machine.write(`${card0}/gt/gt1/rc6_residency_ms`, '902000\n');
  machine.write(`${card0}/device/hwmon/hwmon3/energy1_input`, '1250500000\n');
  machine.write('sys/class/drm/card1/power/rc6_residency_ms', '125356\n');
  const [arc, old] = gpus.collect(2000) ?? [];
  assert.deepEqual(arc, { ...facts, awake_ratio: 0.75, power_watts: 125.25 });
  assert.deepEqual([old?.awake_ratio, old?.usage_ratio], [0.05, undefined]);
});

test('leaves out the awake ratio when the sleep state is disabled or was never reached', () => {
  using machine = copyMachine('gpu-i915');
  machine.write(`${card0}/gt/gt0/rc6_enable`, '0\n');
  machine.write(`${card0}/gt/gt1/rc6_residency_ms`, '0\n');
  using gpus = open(machine);
  gpus.collect(0);
  assert.equal(gpus.collect(1000)?.[0]?.awake_ratio, undefined);
});

test('leaves out Intel rates for one tick after a reset', () => {
  using machine = copyMachine('gpu-i915');
  using gpus = open(machine);
  gpus.collect(0);
  machine.write(`${card0}/gt/gt0/rc6_residency_ms`, '3\n');
  machine.write(`${card0}/gt/gt1/rc6_residency_ms`, '3\n');
  machine.write(`${card0}/device/hwmon/hwmon3/energy1_input`, '5\n');
  const [arc] = gpus.collect(1000) ?? [];
  assert.deepEqual([arc?.awake_ratio, arc?.power_watts], [undefined, undefined]);
});

test('reads Intel cards of the driver xe', () => {
  using machine = copyMachine('gpu-xe');
  using gpus = open(machine);
  gpus.collect(0);
  const gt = `${card0}/device/tile0`;
  machine.write(`${gt}/gt0/gtidle/idle_residency_ms`, '70250\n');
  machine.write(`${gt}/gt1/gtidle/idle_residency_ms`, '81000\n');
  machine.write(`${card0}/device/hwmon/hwmon3/energy2_input`, '280000000\n');
  assert.deepEqual(gpus.collect(1000), [
    {
      vendor: 'intel',
      index: 0,
      model_id: '8086:e20b',
      pci_address: '0000:04:00.0',
      awake_ratio: 0.75,
      temperature_celsius: 52,
      power_watts: 30,
      power_limit_watts: 190,
      frequency_hertz: 2_850_000_000,
    },
  ]);
});

test('finds new cards and drops removed ones', () => {
  using machine = copyMachine('gpu-xe');
  using gpus = open(machine);
  gpus.collect(0);
  machine.remove(card0);
  const parts = gpus.collect(1000) ?? [];
  assert.deepEqual(
    parts.map(({ frequency_hertz }) => frequency_hertz),
    [undefined],
  );
  assert.equal(gpus.collect(10_000), null);
});

test('returns null without cards', () => {
  using machine = emptyMachine();
  using gpus = open(machine);
  assert.equal(gpus.collect(0), null);
});
