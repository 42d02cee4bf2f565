import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MountProber } from './mount-prober.ts';
import type { StatfsWorker, Space } from './statfs-worker.ts';

const space: Space = { frsize: 4096, blocks: 10, bfree: 5, bavail: 5, files: 4, ffree: 2 };

/** Opens a prober with workers that the test answers for, and a clock that the test sets. */
function openFakeProber() {
  const clock = { ms: 0 };
  const asked: string[] = [];
  const workers: { answer: (space: Space | null) => void; stopped: boolean }[] = [];
  const createWorker = (answer: (space: Space | null) => void): StatfsWorker => {
    const worker = { answer, stopped: false };
    workers.push(worker);
    return {
      request: (mountPoint) => void asked.push(mountPoint),
      stop: () => {
        worker.stopped = true;
      },
    };
  };
  return { clock, asked, workers, prober: new MountProber(() => clock.ms, createWorker) };
}

test('probes all mounts that answer in one worker', () => {
  const { asked, workers, prober } = openFakeProber();
  prober.request(['/a', '/b']);
  assert.equal(prober.stateOf('/a'), null);
  workers[0]?.answer(space);
  workers[0]?.answer(space);
  assert.deepEqual(asked, ['/a', '/b']);
  assert.deepEqual(prober.stateOf('/b'), { space, stale: false });
  assert.equal(workers.length, 1);
  assert.equal(prober.isStuck(), false);
});

test('stops the worker after the last mount, and starts another one for the next', () => {
  const { asked, workers, prober } = openFakeProber();
  prober.request(['/a']);
  workers[0]?.answer(space);
  prober.request([]);
  assert.equal(workers[0]?.stopped, true);
  prober.request(['/a']);
  workers[1]?.answer(space);
  assert.deepEqual(asked, ['/a', '/a']);
  assert.deepEqual(prober.stateOf('/a'), { space, stale: false });
  assert.deepEqual([workers.length, workers[1]?.stopped], [2, false]);
});

test('marks a mount as stale after two seconds, and probes the rest in another worker', () => {
  const { clock, asked, workers, prober } = openFakeProber();
  prober.request(['/hangs', '/b']);
  clock.ms = 2_001;
  assert.deepEqual(prober.stateOf('/hangs'), { space: null, stale: true });
  workers[1]?.answer(space);
  assert.deepEqual(prober.stateOf('/b'), { space, stale: false });
  assert.deepEqual(asked, ['/hangs', '/b']);
  assert.equal(prober.isStuck(), true);
});

test('does not probe a hanging mount again, and stops its worker when it answers', () => {
  const { clock, asked, workers, prober } = openFakeProber();
  prober.request(['/a']);
  workers[0]?.answer(space);
  for (let round = 0; round < 50; round += 1) {
    clock.ms += 5_000;
    prober.request(['/a']);
  }
  assert.deepEqual(asked, ['/a', '/a']);
  assert.equal(workers.length, 1);
  assert.deepEqual(prober.stateOf('/a'), { space, stale: true });
  const fresh = { ...space, bfree: 1 };
  workers[0]?.answer(fresh);
  assert.deepEqual(prober.stateOf('/a'), { space: fresh, stale: false });
  assert.deepEqual([workers[0]?.stopped, prober.isStuck()], [true, false]);
  prober.request(['/a']);
  assert.equal(workers.length, 2);
});

test('limits hanging workers to eight', () => {
  const { clock, asked, workers, prober } = openFakeProber();
  const mounts = Array.from({ length: 20 }, (_, index) => `/m${index}`);
  for (let round = 0; round < 30; round += 1) {
    prober.request(mounts);
    clock.ms += 3_000;
  }
  assert.equal(workers.length, 8);
  assert.equal(asked.length, 8);
  assert.deepEqual(prober.stateOf('/m19'), { space: null, stale: true });
});

test('drops an unmounted mount, and does not probe it again while its worker hangs', () => {
  const { clock, asked, prober } = openFakeProber();
  prober.request(['/a']);
  clock.ms = 3_000;
  prober.request([]);
  assert.equal(prober.stateOf('/a'), null);
  prober.request(['/a']);
  assert.deepEqual(asked, ['/a']);
  clock.ms = 6_000;
  assert.deepEqual(prober.stateOf('/a'), { space: null, stale: true });
});

test('stops every worker when it is closed', () => {
  const { clock, workers, prober } = openFakeProber();
  prober.request(['/a', '/b']);
  clock.ms = 3_000;
  prober.stateOf('/a');
  prober.close();
  assert.deepEqual(
    workers.map(({ stopped }) => stopped),
    [true, true],
  );
});
