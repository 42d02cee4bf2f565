import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyMachine, emptyMachine } from '../../test/machine.ts';

import { openPressureCollector } from './pressure.ts';

test('reports pressure as averages, and as the ratio since the last snapshot', () => {
  using machine = copyMachine('bare-vm');
  const pressure = openPressureCollector(machine.roots);
  assert.deepEqual(pressure.collect(0)?.cpu?.some, {
    average_10s_ratio: 0.015,
    average_60s_ratio: 0.0005,
    average_300s_ratio: 0.0014,
    stall_seconds_total: 2,
  });
  machine.write(
    'proc/pressure/cpu',
    'some avg10=2.00 avg60=0.10 avg300=0.20 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=8065093\n',
  );
  const later = pressure.collect(2000)?.cpu;
  assert.equal(later?.some?.stall_ratio, 0.25);
  assert.equal(later.full?.stall_ratio, 0);
});

test('leaves out a missing full line', () => {
  using machine = emptyMachine();
  machine.write('proc/pressure/irq', 'full avg10=1.00 avg60=0.00 avg300=0.00 total=5\n');
  const part = openPressureCollector(machine.roots).collect(0);
  assert.deepEqual(Object.keys(part ?? {}), ['irq']);
  assert.deepEqual(Object.keys(part?.irq ?? {}), ['full']);
});

test('returns null when the kernel has it disabled', () => {
  using machine = emptyMachine();
  assert.equal(openPressureCollector(machine.roots).collect(0), null);
});
