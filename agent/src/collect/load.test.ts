import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyMachine, emptyMachine } from '../../test/machine.ts';

import { openLoadCollector, openUptimeCollector } from './load.ts';

test('reads load averages, threads and uptime', () => {
  using machine = copyMachine('bare-vm');
  assert.deepEqual(openLoadCollector(machine.roots).collect(0), {
    load_1m: 0.42,
    load_5m: 0.36,
    load_15m: 0.3,
    runnable_tasks: 2,
    tasks: 171,
  });
  assert.equal(openUptimeCollector(machine.roots).collect(0), 86_400.25);
});

test('returns null for missing and invalid files', () => {
  using machine = emptyMachine();
  assert.equal(openLoadCollector(machine.roots).collect(0), null);
  assert.equal(openUptimeCollector(machine.roots).collect(0), null);
  machine.write('proc/loadavg', 'garbage\n');
  machine.write('proc/uptime', 'NaN NaN\n');
  assert.equal(openLoadCollector(machine.roots).collect(0), null);
  assert.equal(openUptimeCollector(machine.roots).collect(0), null);
});
