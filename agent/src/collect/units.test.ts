import assert from 'node:assert/strict';
import { test } from 'node:test';

import { emptyMachine } from '../../test/machine.ts';

import { openUnitsCollector } from './units.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what systemd said last is told, and it is asked every half minute', async () => {
  using machine = emptyMachine();
  const asked: string[] = [];
  const units = openUnitsCollector(machine.roots, async (socketPath) => {
    asked.push(socketPath);
    return [`unit-${asked.length}.service`];
  });
  assert.equal(units.collect(0), null);
  await turn();
  assert.deepEqual(units.collect(1_000), { failed: ['unit-1.service'] });
  assert.deepEqual(asked, [`${machine.roots.run}/dbus/system_bus_socket`]);
  units.collect(30_000);
  await turn();
  assert.deepEqual(units.collect(31_000), { failed: ['unit-2.service'] });
});

test('a bus that fails is told of once, and then the part is absent until it is asked again', async () => {
  using machine = emptyMachine();
  const units = openUnitsCollector(machine.roots, async () => {
    throw new Error('The bus hung up.');
  });
  units.collect(0);
  await turn();
  assert.throws(() => units.collect(1_000), /The bus hung up/);
  assert.equal(units.collect(2_000), null);
});

test('while an answer is awaited nobody is asked again', () => {
  using machine = emptyMachine();
  let asked = 0;
  const units = openUnitsCollector(machine.roots, () => {
    asked += 1;
    return new Promise(() => undefined);
  });
  for (let second = 0; second < 300; second += 1) assert.equal(units.collect(second * 1000), null);
  assert.equal(asked, 1);
});

test('a machine without a bus has no such part', async () => {
  using machine = emptyMachine();
  const units = openUnitsCollector(machine.roots);
  units.collect(0);
  await turn();
  await turn();
  assert.equal(units.collect(1_000), null);
});
