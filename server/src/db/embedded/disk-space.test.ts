import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';

import { DiskSpace } from './disk-space.ts';

function watch(readFreeMib?: () => Promise<number>) {
  const events: unknown[] = [];
  const record = (fields: object): void => void events.push('event' in fields && fields.event);
  const log = { info: record, warn: record, error: record };
  return { disk: new DiskSpace(tmpdir(), log, readFreeMib), events };
}

test('logs low disk space once when it starts and once when it ends', async () => {
  let free = 10_000;
  const { disk, events } = watch(async () => free);
  const seen: boolean[] = [];
  for (free of [10_000, 512, 511, 100, 512, 767, 768, 10_000, 1]) {
    await disk.check();
    seen.push(disk.isLow);
  }
  assert.deepEqual(seen, [false, false, true, true, true, true, false, false, true]);
  assert.deepEqual(events, ['disk.low_started', 'disk.low_ended', 'disk.low_started']);
});

test('a failed check does not change the state', async () => {
  let free = 1;
  const { disk, events } = watch(async () => {
    if (free === 0) throw new Error('EIO');
    return free;
  });
  await disk.check();
  free = 0;
  await assert.rejects(disk.check(), /EIO/u);
  assert.equal(disk.isLow, true);
  assert.deepEqual(events, ['disk.low_started']);
});

test('reads the free space of a real directory', async () => {
  const { disk } = watch();
  assert.equal(disk.freeBytes, null);
  await disk.check();
  assert.ok(Number(disk.freeBytes) > 0);
});
