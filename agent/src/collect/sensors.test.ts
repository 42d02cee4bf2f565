import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { copyMachine, emptyMachine, type Machine } from '../../test/machine.ts';
import { until } from '../../test/wait.ts';
import { BackgroundReader, openSlowFile } from '../read/background-reader.ts';

import { openSensorsCollector } from './sensors.ts';

/** Opens a function that collects, waits for the started reads, and collects again. */
function openOn(
  machine: Machine,
  clock = { ms: 0 },
  reader = new BackgroundReader(() => clock.ms),
  pausedDevices: ReadonlySet<string> = new Set(),
) {
  const collector = openSensorsCollector(machine.roots, reader, pausedDevices);
  return async (atMs: number) => {
    clock.ms = atMs;
    collector.collect(atMs);
    await until(() => !reader.isStuck());
    return collector.collect(atMs);
  };
}

test('reports temperatures and fans with stable ids, labels and limits, without implausible values', async () => {
  using machine = copyMachine('server');
  assert.deepEqual(await openOn(machine)(0), {
    temperatures: [
      {
        id: 'coretemp.0/temp1',
        chip: 'coretemp',
        label: 'Package id 0',
        temperature_celsius: 54,
        high_celsius: 82,
        critical_celsius: 100,
      },
      {
        id: 'coretemp.0/temp2',
        chip: 'coretemp',
        label: 'Core 0',
        temperature_celsius: 51,
        high_celsius: 82,
        critical_celsius: 100,
      },
      { id: 'nct6775.656/temp3', chip: 'nct6775', temperature_celsius: 33 },
      {
        id: 'nvme0/temp1',
        chip: 'nvme',
        label: 'Composite',
        temperature_celsius: 38.85,
        critical_celsius: 84.85,
      },
    ],
    fans: [
      { id: 'nct6775.656/fan1', chip: 'nct6775', speed_rpm: 1205 },
      { id: 'nct6775.656/fan2', chip: 'nct6775', label: 'CPU fan', speed_rpm: 0 },
    ],
  });
});

test('reports a thermal zone without a chip', async () => {
  using machine = copyMachine('raspberry-pi');
  assert.deepEqual(await openOn(machine)(0), {
    temperatures: [
      {
        id: 'cpu-thermal/thermal_zone0',
        chip: 'cpu-thermal',
        temperature_celsius: 48.312,
        critical_celsius: 110,
      },
    ],
  });
});

test('reports the package of an Intel processor once', async () => {
  using machine = copyMachine('server');
  machine.remove('sys/class/thermal/thermal_zone0/hwmon0');
  const part = await openOn(machine)(0);
  assert.deepEqual(
    part?.temperatures?.filter(({ chip }) => chip === 'x86_pkg_temp'),
    [],
  );
});

test('reports a thermal zone with a chip once', async () => {
  using machine = copyMachine('server');
  machine.write('sys/class/thermal/thermal_zone1/type', 'acpitz\n');
  machine.write('sys/class/thermal/thermal_zone1/temp', '30000\n');
  machine.write('sys/class/thermal/thermal_zone1/hwmon7/name', 'acpitz\n');
  const part = await openOn(machine)(0);
  assert.equal(
    part?.temperatures?.some(({ chip }) => chip === 'acpitz'),
    false,
  );
});

test('leaves out a sensor while its chip reports a fault', async () => {
  using machine = copyMachine('server');
  const hwmon = 'sys/class/hwmon/hwmon5';
  machine.write(`${hwmon}/name`, 'w83795\n');
  for (const [name, value] of [
    ['temp1', 127_000],
    ['fan1', 37],
  ] as const) {
    machine.write(`${hwmon}/${name}_input`, `${value}\n`);
    machine.write(`${hwmon}/${name}_fault`, '1\n');
  }
  const collect = openOn(machine);
  const ids = async (atMs: number) => {
    const part = await collect(atMs);
    const all = [...(part?.temperatures ?? []), ...(part?.fans ?? [])];
    return all.filter(({ chip }) => chip === 'w83795').map(({ id }) => id);
  };
  assert.deepEqual(await ids(0), []);
  machine.write(`${hwmon}/temp1_fault`, '0\n');
  assert.deepEqual(await ids(2_000), ['w83795/temp1']);
});

test('reads sensors every two seconds', async () => {
  using machine = copyMachine('raspberry-pi');
  const collect = openOn(machine);
  await collect(0);
  machine.write('sys/class/thermal/thermal_zone0/temp', '60000\n');
  const celsius = async (atMs: number) =>
    (await collect(atMs))?.temperatures?.[0]?.temperature_celsius;
  assert.equal(await celsius(1_000), 48.312);
  assert.equal(await celsius(2_000), 60);
});

test('drops a removed chip, and finds a new one within a minute', async () => {
  using machine = copyMachine('server');
  const clock = { ms: 0 };
  const reader = new BackgroundReader(() => clock.ms);
  const collect = openOn(machine, clock, reader);
  await collect(0);
  machine.remove('sys/class/hwmon/hwmon1');
  machine.write('sys/class/hwmon/hwmon5/name', 'drivetemp\n');
  machine.write('sys/class/hwmon/hwmon5/temp1_input', '30000\n');
  const chips = async (atMs: number) =>
    new Set((await collect(atMs))?.temperatures?.map(({ chip }) => chip));
  assert.deepEqual(await chips(60_000), new Set(['coretemp', 'drivetemp', 'nct6775']));
  const gone = `${machine.roots.sys}/class/hwmon/hwmon1/temp1_input`;
  assert.equal(reader.textOf(gone), null, 'its file is closed');
});

test('drops the sensors of a sleeping card until it wakes up', async () => {
  using machine = copyMachine('gpu-amd');
  const sleeper = 'sys/devices/pci0000:00/0000:0a:00.0';
  machine.write(`${sleeper}/hwmon/hwmon6/temp1_crit`, '100000\n');
  const clock = { ms: 0 };
  const opened: string[] = [];
  const reader = new BackgroundReader(
    () => clock.ms,
    (path) => {
      opened.push(path);
      return openSlowFile(path);
    },
  );
  const collect = openOn(machine, clock, reader);
  const ids = async (atMs: number) => (await collect(atMs))?.temperatures?.map(({ id }) => id);
  const others = ['0000:03:00.0/temp1', '0000:03:00.0/temp2', '0000:c4:00.0/temp1'];
  assert.deepEqual(await ids(0), others);
  assert.deepEqual(
    opened.filter((path) => path.includes('hwmon6')),
    [],
  );
  machine.write(`${sleeper}/hwmon/hwmon6/temp1_input`, '41000\n');
  machine.write(`${sleeper}/power/runtime_status`, 'active\n');
  const woken = (await collect(2_000))?.temperatures?.find(({ id }) => id === '0000:0a:00.0/temp1');
  assert.deepEqual([woken?.temperature_celsius, woken?.critical_celsius], [41, 100]);
  machine.write(`${sleeper}/power/runtime_status`, 'suspended\n');
  assert.deepEqual(await ids(4_000), others);
});

test('does not read the sensors of a paused card', async () => {
  using machine = copyMachine('gpu-amd');
  const pausedDevices = new Set([
    realpathSync(join(machine.roots.sys, 'devices/pci0000:00/0000:03:00.0')),
  ]);
  const collect = openOn(machine, undefined, undefined, pausedDevices);
  const ids = async (atMs: number) => (await collect(atMs))?.temperatures?.map(({ id }) => id);
  assert.deepEqual(await ids(0), ['0000:c4:00.0/temp1']);
  pausedDevices.clear();
  assert.equal((await ids(2_000))?.length, 3);
});

test('reads the temperature of a rotating disk only while it is in use', async () => {
  using machine = emptyMachine();
  const device = 'sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0';
  const disk = `${device}/block/sda`;
  machine.write(`${device}/hwmon/hwmon0/name`, 'drivetemp\n');
  machine.write(`${device}/hwmon/hwmon0/temp1_input`, '31000\n');
  machine.write(`${disk}/queue/rotational`, '1\n');
  const use = (requests: number) => machine.write(`${disk}/stat`, `${requests} 0 8 0 0 0 0\n`);
  use(1);
  mkdirSync(join(machine.roots.sys, 'class/hwmon'), { recursive: true });
  const hwmon = join(machine.roots.sys, 'class/hwmon/hwmon0');
  symlinkSync('../../devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/hwmon/hwmon0', hwmon);
  symlinkSync('../..', join(hwmon, 'device'));
  const clock = { ms: 0 };
  const asked: number[] = [];
  const reader = new BackgroundReader(
    () => clock.ms,
    (path) => {
      const file = openSlowFile(path);
      return { ...file, read: (done) => (asked.push(clock.ms), file.read(done)) };
    },
  );
  const collect = openOn(machine, clock, reader);
  const celsius = async (atMs: number) =>
    (await collect(atMs))?.temperatures?.[0]?.temperature_celsius;
  assert.equal(await celsius(0), undefined);
  assert.equal(await celsius(2_000), undefined, 'no program used it since the start of the agent');
  use(2);
  assert.equal(await celsius(4_000), 31);
  // Some kernels count the agent's own reading.
  use(3);
  for (let atMs = 6_000; atMs < 400_000; atMs += 2_000) await celsius(atMs);
  assert.deepEqual(asked, [4_000]);
  assert.equal(await celsius(400_000), undefined, 'it may have spun down');
  for (let atMs = 402_000; atMs <= 522_000; atMs += 2_000) {
    use(atMs);
    await celsius(atMs);
  }
  assert.deepEqual(asked, [4_000, 402_000, 462_000, 522_000]);
});

test('returns null without sensors', async () => {
  using machine = emptyMachine();
  assert.equal(await openOn(machine)(0), null);
});
