import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyMachine, type Machine } from '../../test/machine.ts';
import { until } from '../../test/wait.ts';
import { BackgroundReader } from '../read/background-reader.ts';

import { openRaspberryPiCollector } from './raspberry-pi.ts';

async function readPi(machine: Machine) {
  const reader = new BackgroundReader(() => 0);
  const collector = openRaspberryPiCollector(machine.roots, reader);
  collector.collect(0);
  await until(() => !reader.isStuck());
  return collector.collect(0);
}

test('reports present problems, and those since boot', async () => {
  using machine = copyMachine('raspberry-pi');
  assert.deepEqual(await readPi(machine), {
    under_voltage: { now: true, since_boot: true },
    frequency_capped: { now: false, since_boot: false },
    throttled: { now: true, since_boot: true },
    soft_temperature_limit: { now: false, since_boot: false },
  });
  machine.write(
    'sys/bus/platform/drivers/raspberrypi-firmware/soc:firmware/get_throttled',
    'e000a\n',
  );
  assert.deepEqual(await readPi(machine), {
    under_voltage: { now: false, since_boot: false },
    frequency_capped: { now: true, since_boot: true },
    throttled: { now: false, since_boot: true },
    soft_temperature_limit: { now: true, since_boot: true },
  });
});

test('returns null on other machines, and for an invalid answer of the firmware', async () => {
  using server = copyMachine('server');
  assert.equal(await readPi(server), null);
  using machine = copyMachine('raspberry-pi');
  machine.write(
    'sys/bus/platform/drivers/raspberrypi-firmware/soc:firmware/get_throttled',
    'error\n',
  );
  assert.equal(await readPi(machine), null);
});
