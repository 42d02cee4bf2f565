import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { emptyMachine, type Machine } from '../../test/machine.ts';
import { emptyPrograms, processExists, type Programs } from '../../test/programs.ts';
import { waitFor } from '../../test/wait.ts';
import { openUnitsCollector } from './units.ts';

const LINE = 'loaded failed failed Something';

function open({ roots }: Machine, { searchPath }: Programs) {
  mkdirSync(join(roots.run, 'systemd/system'), { recursive: true });
  return openUnitsCollector(roots, searchPath);
}

test('lists failed units by name, and reads them again after 30 seconds', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  programs.write('systemctl', `echo 'b.service ${LINE}'; echo 'a.mount ${LINE}'`);
  const units = open(machine, programs);
  assert.equal(units.collect(0), null);
  const first = await waitFor(() => units.collect(1_000));
  assert.deepEqual(first, { failed: ['a.mount', 'b.service'] });
  assert.deepEqual(programs.starts(), [
    'list-units --state=failed --plain --no-legend --no-pager --full',
  ]);
  programs.write('systemctl', 'exit 0');
  assert.deepEqual(units.collect(29_999), first);
  assert.deepEqual(units.collect(30_000), first);
  await waitFor(() => units.collect(31_000)?.failed.length === 0);
  assert.equal(programs.starts().length, 2);
});

test('reports a failure of systemctl once and leaves the part out until the next answer', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  programs.write('systemctl', "echo 'Failed to connect to bus' >&2; exit 1");
  const units = open(machine, programs);
  units.collect(0);
  await waitFor(() => programs.pids().some((pid) => !processExists(pid)));
  await assert.rejects(
    waitFor(() => units.collect(1_000)),
    { message: 'systemctl failed: exit code 1: Failed to connect to bus' },
  );
  assert.equal(units.collect(2_000), null);
  programs.write('systemctl', `echo 'a.service ${LINE}'`);
  units.collect(30_000);
  assert.deepEqual(await waitFor(() => units.collect(31_000)), { failed: ['a.service'] });
});

test('ends a systemctl that hangs for more than five seconds', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  programs.write('systemctl', 'exec sleep 1000');
  const units = open(machine, programs);
  units.collect(0);
  const [pid = 0] = await waitFor(() => programs.pids().length > 0 && programs.pids());
  assert.equal(units.collect(5_000), null);
  assert.equal(processExists(pid), true);
  assert.throws(() => units.collect(5_001), /did not end in 5 s/u);
  await waitFor(() => !processExists(pid));
});

test('limits the list to 100 units', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  programs.write('systemctl', `seq -f 'u%g.service ${LINE}' 500`);
  const units = open(machine, programs);
  units.collect(0);
  assert.equal((await waitFor(() => units.collect(1_000))).failed.length, 100);
});

test('is absent without systemd and without systemctl', () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  const without = open(machine, programs);
  assert.equal(without.collect(0), null);
  assert.equal(without.collect(1_000), null);
  machine.remove('run/systemd');
  programs.write('systemctl', 'exit 0');
  const units = openUnitsCollector(machine.roots, programs.searchPath);
  for (const atMs of [0, 1_000, 30_000]) assert.equal(units.collect(atMs), null);
  assert.deepEqual(programs.starts(), []);
});
