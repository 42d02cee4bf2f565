import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyMachine } from '../../test/machine.ts';

import { openSwapCollector } from './memory.ts';

test('converts swap by the page size of the machine', () => {
  using machine = copyMachine('raspberry-pi');
  const swap = openSwapCollector(machine.roots);
  assert.deepEqual(swap.collect(0), {
    total_bytes: 204_800_000,
    used_bytes: 51_200_000,
    free_bytes: 153_600_000,
    usage_ratio: 0.25,
    in_bytes_total: 163_840,
    out_bytes_total: 327_680,
  });
  machine.write('proc/vmstat', 'pswpin 12\npswpout 24\n');
  const later = swap.collect(2000);
  assert.equal(later?.in_bytes_per_second, 16_384);
  assert.equal(later.out_bytes_per_second, 32_768);
});

test('returns null without swap, and no traffic without a page size', () => {
  using vm = copyMachine('bare-vm');
  assert.equal(openSwapCollector(vm.roots).collect(0), null);
  using pi = copyMachine('raspberry-pi');
  pi.remove('proc/self/auxv');
  const part = openSwapCollector(pi.roots).collect(0);
  assert.deepEqual(Object.keys(part ?? {}), [
    'total_bytes',
    'used_bytes',
    'free_bytes',
    'usage_ratio',
  ]);
});
