import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MountProber } from './mount-prober.ts';
import type { MountThread, Space } from './statfs-worker.ts';

const space: Space = { frsize: 4096, blocks: 10, bfree: 5, bavail: 5, files: 4, ffree: 2 };

/** Threads that answer only when the test says so, and a clock that the test moves. */
function openFakeProber() {
  const clock = { ms: 0 };
  const asked: string[] = [];
  const threads: { answer: (space: Space | null) => void; stopped: boolean }[] = [];
  const startThread = (answer: (space: Space | null) => void): MountThread => {
    const thread = { answer, stopped: false };
    threads.push(thread);
    return {
      ask: (mountPoint) => void asked.push(mountPoint),
      stop: () => {
        thread.stopped = true;
      },
    };
  };
  return { clock, asked, threads, prober: new MountProber(() => clock.ms, startThread) };
}

test('one thread serves mounts that answer', () => {
  const { asked, threads, prober } = openFakeProber();
  prober.ask(['/a', '/b']);
  assert.equal(prober.stateOf('/a'), null);
  threads[0]?.answer(space);
  threads[0]?.answer(space);
  assert.deepEqual(asked, ['/a', '/b']);
  assert.deepEqual(prober.stateOf('/b'), { space, stale: false });
  assert.equal(threads.length, 1);
  assert.equal(prober.isStuck(), false);
});

test('when the last mount is gone, so is the thread; the next mount gets another one', () => {
  const { asked, threads, prober } = openFakeProber();
  prober.ask(['/a']);
  threads[0]?.answer(space);
  prober.ask([]);
  assert.equal(threads[0]?.stopped, true);
  prober.ask(['/a']);
  threads[1]?.answer(space);
  assert.deepEqual(asked, ['/a', '/a']);
  assert.deepEqual(prober.stateOf('/a'), { space, stale: false });
  assert.deepEqual([threads.length, threads[1]?.stopped], [2, false]);
});

test('a mount that hangs is stale after two seconds, and another thread serves the rest', () => {
  const { clock, asked, threads, prober } = openFakeProber();
  prober.ask(['/hangs', '/b']);
  clock.ms = 2_001;
  assert.deepEqual(prober.stateOf('/hangs'), { space: null, stale: true });
  threads[1]?.answer(space);
  assert.deepEqual(prober.stateOf('/b'), { space, stale: false });
  assert.deepEqual(asked, ['/hangs', '/b']);
  assert.equal(prober.isStuck(), true);
});

test('a mount that hangs is not asked again; when it answers at last, all is as before and its thread ends', () => {
  const { clock, asked, threads, prober } = openFakeProber();
  prober.ask(['/a']);
  threads[0]?.answer(space);
  for (let round = 0; round < 50; round += 1) {
    clock.ms += 5_000;
    prober.ask(['/a']);
  }
  assert.deepEqual(asked, ['/a', '/a']);
  assert.equal(threads.length, 1);
  assert.deepEqual(prober.stateOf('/a'), { space, stale: true });
  const fresh = { ...space, bfree: 1 };
  threads[0]?.answer(fresh);
  assert.deepEqual(prober.stateOf('/a'), { space: fresh, stale: false });
  assert.deepEqual([threads[0]?.stopped, prober.isStuck()], [true, false]);
  prober.ask(['/a']);
  assert.equal(threads.length, 2);
});

test('at most eight threads hang', () => {
  const { clock, asked, threads, prober } = openFakeProber();
  const mounts = Array.from({ length: 20 }, (_, index) => `/m${index}`);
  for (let round = 0; round < 30; round += 1) {
    prober.ask(mounts);
    clock.ms += 3_000;
  }
  assert.equal(threads.length, 8);
  assert.equal(asked.length, 8);
  assert.deepEqual(prober.stateOf('/m19'), { space: null, stale: true });
});

test('a mount that was taken away is forgotten, and while its thread hangs it is not asked when it is back', () => {
  const { clock, asked, prober } = openFakeProber();
  prober.ask(['/a']);
  clock.ms = 3_000;
  prober.ask([]);
  assert.equal(prober.stateOf('/a'), null);
  prober.ask(['/a']);
  assert.deepEqual(asked, ['/a']);
  clock.ms = 6_000;
  assert.deepEqual(prober.stateOf('/a'), { space: null, stale: true });
});

test('closing ends every thread', () => {
  const { clock, threads, prober } = openFakeProber();
  prober.ask(['/a', '/b']);
  clock.ms = 3_000;
  prober.stateOf('/a');
  prober.close();
  assert.deepEqual(
    threads.map(({ stopped }) => stopped),
    [true, true],
  );
});
