import assert from 'node:assert/strict';
import { test } from 'node:test';

import { emptyMachine } from '../../test/machine.ts';

import { KernelFile } from './kernel-file.ts';

test('reads a file from its start each time', () => {
  using machine = emptyMachine();
  machine.write('proc/x', 'first');
  const file = new KernelFile(`${machine.roots.proc}/x`);
  assert.equal(String(file.read()), 'first');
  machine.write('proc/x', '2nd');
  assert.equal(String(file.read()), '2nd');
  file.close();
});

test('returns null for a missing file, and finds it once it exists', () => {
  using machine = emptyMachine();
  const file = new KernelFile(`${machine.roots.proc}/x`);
  assert.equal(file.read(), null);
  machine.write('proc/x', 'here');
  assert.equal(String(file.read()), 'here');
  file.close();
});

test('reads a file larger than the buffer', () => {
  using machine = emptyMachine();
  const text = 'cpu 1 2 3 4\n'.repeat(20_000);
  machine.write('proc/x', text);
  const file = new KernelFile(`${machine.roots.proc}/x`);
  assert.equal(String(file.read()) === text, true);
  file.close();
});

test('rejects a file above the size limit', () => {
  using machine = emptyMachine();
  machine.write('proc/x', 'x'.repeat(5 * 1024 * 1024));
  const file = new KernelFile(`${machine.roots.proc}/x`);
  assert.throws(() => file.read(), /over 4194304 bytes/);
});
