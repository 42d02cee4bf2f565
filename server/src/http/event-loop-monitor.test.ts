import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EventLoopMonitor } from './event-loop-monitor.ts';

/** Creates a monitor whose clock the test moves. */
function setUp() {
  const logged: Record<string, unknown>[] = [];
  const delays: number[] = [];
  let nowMs = 5_000;
  let cpuUs = 0;
  const monitor = new EventLoopMonitor({
    log: { warn: (fields) => logged.push({ ...fields }) },
    observeDelay: (seconds) => delays.push(seconds),
    now: () => nowMs,
    readCpuUs: () => cpuUs,
  });
  monitor.start();
  monitor.stop();
  const pass = (ms: number, usesCpu = true): void => {
    nowMs += ms;
    if (usesCpu) cpuUs += ms * 1_000;
  };
  /** Runs the timer of an idle event loop. */
  const idle = (samples = 20): void => {
    for (let count = 0; count < samples; count++) {
      pass(100);
      monitor.sample();
    }
  };
  return { monitor, logged, delays, pass, idle };
}

test('measures how late each sample is, in seconds', () => {
  const { monitor, delays, pass, logged } = setUp();
  for (const ms of [100, 90, 350, 1_100]) {
    pass(ms);
    monitor.sample();
  }
  assert.deepEqual(delays, [0, 0, 0.25, 1]);
  assert.deepEqual(logged, []);
});

test('logs a block once, with its duration, its processor time and the route that ran', () => {
  const { monitor, logged, pass, idle } = setUp();
  idle();
  monitor.recordBegin('/slow');
  pass(3_100);
  monitor.recordEnd('/slow');
  monitor.sample();
  idle();
  const event = 'http.event_loop_blocked';
  assert.deepEqual(logged, [{ event, durationMs: 3_000, cpuMs: 3_100, routes: ['/slow'] }]);
});

test('names a request that waits for something after its block', () => {
  const { monitor, logged, pass, idle } = setUp();
  idle();
  monitor.recordBegin('/then-waits');
  pass(2_100);
  monitor.sample();
  assert.deepEqual(logged[0]?.['routes'], ['/then-waits']);
});

test('names the request that ended after the block, and the one that began before it', () => {
  const { monitor, logged, pass, idle } = setUp();
  monitor.recordBegin('/rendered-after-a-query');
  idle();
  monitor.recordBegin('/another');
  pass(2_100);
  monitor.recordEnd('/rendered-after-a-query');
  monitor.recordBegin('/arrived-meanwhile');
  monitor.recordEnd('/arrived-meanwhile');
  monitor.sample();
  assert.deepEqual(logged[0]?.['routes'], ['/another', '/rendered-after-a-query']);
});

test('names no request that ended before the block or began after it', () => {
  const { monitor, logged, pass, idle } = setUp();
  monitor.recordBegin('/before');
  monitor.recordEnd('/before');
  idle();
  pass(2_100, false);
  monitor.recordBegin('/after');
  monitor.sample();
  pass(5_100);
  monitor.recordEnd('/after');
  monitor.sample();
  const listed = logged.map(({ cpuMs, routes }) => ({ cpuMs, routes }));
  assert.deepEqual(listed, [
    { cpuMs: 0, routes: [] },
    { cpuMs: 5_100, routes: ['/after'] },
  ]);
});

test('names no request of an earlier pause between requests', () => {
  const { monitor, logged, pass, idle } = setUp();
  monitor.recordBegin('/waits-for-the-database');
  idle();
  monitor.recordEnd('/waits-for-the-database');
  idle(5);
  monitor.recordBegin('/short');
  monitor.recordEnd('/short');
  pass(1_500);
  monitor.recordBegin('/next');
  monitor.sample();
  assert.deepEqual(logged[0]?.['routes'], []);
});

test('does not name a request of an earlier pause for a block of several short parts', () => {
  const { monitor, logged, pass, idle } = setUp();
  monitor.recordBegin('/waited-for-a-query');
  idle();
  monitor.recordEnd('/waited-for-a-query');
  pass(600);
  monitor.recordBegin('/quick');
  pass(600);
  monitor.sample();
  assert.equal(logged.length, 1);
  assert.deepEqual(logged[0]?.['routes'], []);
});
