import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';

import { createLog } from '#server/log.ts';
import { createMetrics } from '#server/metrics.ts';

import { eventually } from '../../test/eventually.ts';
import { createTestClock, SECOND_MS, TEST_START } from '../../test/test-clock.ts';
import { TaskRunner, type BackgroundTask } from './background-task.ts';
import { TaskStatuses, type TaskStatus } from './task-statuses.ts';

/** Runs a task that is repeated at once. */
function open(task: Partial<BackgroundTask> & Pick<BackgroundTask, 'run'>) {
  const lines: string[] = [];
  const log = createLog({ level: 'trace', destination: { write: (line) => lines.push(line) } });
  const metrics = createMetrics({ version: 'test' });
  const identity = { name: 'tidy', event: 'test.tidy', action: 'tidy up' };
  const taskStatuses = new TaskStatuses(createTestClock());
  const runner = new TaskRunner(
    { ...identity, scope: 'process', intervalMs: 0, ...task },
    { log, metrics, taskStatuses },
  );
  const logged = () => lines.map((line) => JSON.parse(line));
  return { runner, metrics, logged, status: () => taskStatuses.find('tidy') };
}

test('logs the first of several failures and the recovery, and counts each failure', async () => {
  let runs = 0;
  const { runner, metrics, logged } = open({
    async run() {
      runs += 1;
      if (runs < 4) throw new Error('full');
    },
  });
  runner.start();
  await eventually(() => runs >= 6);
  await runner.stop();
  assert.deepEqual(
    logged().map(({ level, event, task, msg }) => [level, event, task, msg]),
    [
      ['warn', 'test.tidy_failed', 'tidy', 'could not tidy up; retrying'],
      ['info', 'test.tidy_recovered', 'tidy', 'can tidy up again'],
    ],
  );
  const text = await metrics.render();
  assert.match(text, /^latchkey_task_failures_total\{task="tidy"\} 3$/mu);
  const time = /^latchkey_task_last_success_timestamp_seconds\{task="tidy"\} (\S+)$/mu.exec(text);
  assert.ok(Math.abs(Number(time?.[1]) - Date.now() / 1_000) < 60);
});

test('a run that ends after its time limit has failed once and has not succeeded', async () => {
  const { runner, metrics, logged } = open({
    timeoutMs: 10,
    intervalMs: Infinity,
    firstRunMs: 0,
    run: async (signal) => void (await once(signal, 'abort')),
  });
  runner.start();
  await eventually(() => logged().length > 0);
  await runner.stop();
  assert.deepEqual(
    logged().map(({ event, err }) => [event, err.type]),
    [['test.tidy_failed', 'TimeoutError']],
  );
  const text = await metrics.render();
  assert.match(text, /^latchkey_task_failures_total\{task="tidy"\} 1$/mu);
  assert.doesNotMatch(text, /latchkey_task_last_success_timestamp_seconds\{task="tidy"\}/u);
});

test('a stop aborts the run in progress, waits for it, reports no failure and finishes the task', async () => {
  const order: string[] = [];
  const { runner, logged } = open({
    async run(signal) {
      order.push('started');
      await once(signal, 'abort');
      order.push('ended');
      throw new Error('aborted');
    },
    finish: async () => void order.push('finished'),
  });
  runner.start();
  await eventually(() => order.length === 1);
  await runner.stop();
  assert.deepEqual(order, ['started', 'ended', 'finished']);
  assert.deepEqual(logged(), []);
});

test('waits as long as a run asks for, and not again after an infinite delay', async () => {
  let runs = 0;
  const { runner } = open({
    firstRunMs: 0,
    intervalMs: Infinity,
    async run() {
      runs += 1;
      return runs < 3 ? 0 : Infinity;
    },
  });
  runner.start();
  await eventually(() => runs === 3);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(runs, 3);
  await runner.stop();
});

test('runs now on request, also after the run in progress, and not while it fails', async () => {
  const ends: PromiseWithResolvers<void>[] = [];
  const { runner } = open({
    intervalMs: Infinity,
    run() {
      const end = Promise.withResolvers<void>();
      ends.push(end);
      return end.promise;
    },
  });
  runner.runNow();
  runner.runNow();
  assert.equal(ends.length, 1);
  ends[0]?.resolve();
  await eventually(() => ends.length === 2);
  ends[1]?.reject(new Error('no'));
  await new Promise(setImmediate);
  runner.runNow();
  assert.equal(ends.length, 2);
  await runner.stop();
});

test('keeps the times of the last run, of the last failure and of the next run', async () => {
  const seen: TaskStatus[] = [];
  const { runner, status } = open({
    firstRunMs: 0,
    async run() {
      seen.push(status());
      if (seen.length === 1) throw new Error('full of anna@example.com');
      return 60 * SECOND_MS;
    },
  });
  const never = { finishedAt: null, failedAt: null, lastError: null, tookMs: null };
  assert.deepEqual(status(), { ...never, nextAt: null, isRunning: false });
  runner.start();
  await eventually(() => seen.length === 2 && !status().isRunning);
  await runner.stop();
  assert.equal(seen[1]?.isRunning, true);
  assert.match(seen[1]?.lastError ?? '', /^full of (?!anna)/u);
  const { tookMs, ...times } = status();
  assert.deepEqual(times, {
    finishedAt: TEST_START,
    failedAt: TEST_START,
    lastError: null,
    nextAt: new Date(TEST_START.getTime() + 60 * SECOND_MS),
    isRunning: false,
  });
  assert.ok(tookMs !== null && tookMs >= 0);
});
