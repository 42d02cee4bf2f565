import assert from 'node:assert/strict';
import { test } from 'node:test';

import { initialSettings, readMemoryBytes } from './settings.ts';

const MB = 1024 * 1024;

function buffersOf(megabytes: number): string | undefined {
  return initialSettings(megabytes * MB)['shared_buffers'];
}

test('shared_buffers is an eighth of the memory, within bounds', () => {
  assert.equal(buffersOf(512), '128MB');
  assert.equal(buffersOf(1024), '128MB');
  assert.equal(buffersOf(2001), '250MB');
  assert.equal(buffersOf(8192), '1024MB');
  assert.equal(buffersOf(262_144), '1024MB');
});

test('reads the memory of this machine', () => {
  assert.ok(readMemoryBytes() > 64 * MB);
});
