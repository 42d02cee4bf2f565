import assert from 'node:assert/strict';
import { test } from 'node:test';

import { emptyMachine } from '../../test/machine.ts';
import { readMachineId } from './machine-id.ts';

test('derives an id that does not disclose the id of the system', () => {
  using machine = emptyMachine();
  machine.write('etc/machine-id', 'b08dfa6083e7567a1921a715000001fb\n');
  // printf 'latchkey-agent machine id v1' |
  //   openssl dgst -sha256 -mac HMAC -macopt hexkey:b08dfa6083e7567a1921a715000001fb
  assert.equal(readMachineId(machine.roots), '4a9ecdca184bbf7bbd888834d4e15683');
});

test('returns null without an id, and before the first boot', () => {
  using machine = emptyMachine();
  assert.equal(readMachineId(machine.roots), null);
  machine.write('etc/machine-id', 'uninitialized\n');
  assert.equal(readMachineId(machine.roots), null);
});
