import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyMachine, emptyMachine, type Machine } from '../../test/machine.ts';
import { until } from '../../test/wait.ts';
import { BackgroundReader } from '../read/background-reader.ts';

import { openBatteriesCollector } from './batteries.ts';

async function collectFrom(machine: Machine) {
  const reader = new BackgroundReader(() => 0);
  const collector = openBatteriesCollector(machine.roots, reader);
  collector.collect(0);
  await until(() => !reader.isStuck());
  return collector.collect(0);
}

test('reads batteries by energy or charge, without mains and peripherals', async () => {
  using machine = copyMachine('laptop');
  assert.deepEqual(await collectFrom(machine), [
    {
      name: 'BAT0',
      status: 'discharging',
      charge_ratio: 0.77,
      health_ratio: 0.8772,
      power_watts: 8.25,
      cycles: 212,
    },
    {
      name: 'BAT1',
      status: 'not_charging',
      charge_ratio: 0.5,
      health_ratio: 1,
      power_watts: 6,
    },
  ]);
});

test('reads a battery that reports only a percentage', async () => {
  using machine = emptyMachine();
  machine.write('sys/class/power_supply/rpi/type', 'Battery\n');
  machine.write('sys/class/power_supply/rpi/status', 'Odd\n');
  machine.write('sys/class/power_supply/rpi/capacity', '42\n');
  assert.deepEqual(await collectFrom(machine), [
    { name: 'rpi', status: 'unknown', charge_ratio: 0.42 },
  ]);
});

test('returns null without a battery', async () => {
  using machine = copyMachine('bare-vm');
  assert.equal(await collectFrom(machine), null);
});
