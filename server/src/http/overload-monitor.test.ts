import assert from 'node:assert/strict';
import { test } from 'node:test';

import { OverloadMonitor, type HttpLimit } from './overload-monitor.ts';

function setUp() {
  const lines: object[] = [];
  const counted: HttpLimit[] = [];
  const log = {
    warn: (fields: object) => lines.push({ level: 'warn', ...fields }),
    info: (fields: object) => lines.push({ level: 'info', ...fields }),
  };
  const monitor = new OverloadMonitor(log, (limit) => counted.push(limit));
  /** Simulates one second with that many requests. */
  const second = (served: number, refused: number, isExhausted = false) => {
    for (let count = 0; count < served; count++) monitor.recordServed();
    for (let count = 0; count < refused; count++) monitor.recordLimited('memory');
    monitor.sweep(isExhausted);
  };
  return { counted, lines, monitor, second };
}

test('logs an overload once when it starts and once when it has ended', () => {
  const { counted, lines, monitor, second } = setUp();
  second(10, 3);
  for (let count = 0; count < 5; count++) second(10, 1);
  assert.deepEqual(lines, [{ level: 'warn', event: 'http.overload_started' }]);
  for (let count = 0; count < 9; count++) second(10, 0);
  assert.equal(monitor.state, 'overloaded');
  second(10, 0);
  assert.equal(monitor.state, 'normal');
  assert.deepEqual(lines.slice(1), [
    { level: 'info', event: 'http.overload_ended', occurrences: 8, intervals: 16 },
  ]);
  assert.equal(counted.length, 8);
  second(0, 1);
  assert.equal(lines.length, 3);
});

test('an overload lasts while memory is exhausted, also without requests', () => {
  const { monitor, second } = setUp();
  second(0, 1, true);
  for (let count = 0; count < 100; count++) second(0, 0, true);
  assert.equal(monitor.state, 'overloaded');
  for (let count = 0; count < 10; count++) second(0, 0);
  assert.equal(monitor.state, 'normal');
});

test('reports refusing after five seconds in which most requests were refused, until the overload ends', () => {
  const { monitor, second } = setUp();
  for (let count = 0; count < 4; count++) second(1, 2, true);
  assert.equal(monitor.state, 'overloaded');
  second(1, 2, true);
  assert.equal(monitor.state, 'refusing');
  // The balancer has sent the traffic elsewhere.
  for (let count = 0; count < 9; count++) second(1, 0);
  assert.equal(monitor.state, 'refusing');
  second(1, 0);
  assert.equal(monitor.state, 'normal');
  second(1, 2);
  assert.equal(monitor.state, 'overloaded', 'counts anew');
});

test('reports overloaded while most requests are served, however long it lasts', () => {
  const { monitor, second } = setUp();
  for (let count = 0; count < 100; count++) {
    second(1, count % 5 === 0 ? 0 : 2, true);
    assert.equal(monitor.state, count === 0 ? 'normal' : 'overloaded');
  }
});

test('a client network above its share and stalled bodies are not an overload', () => {
  const { counted, lines, monitor } = setUp();
  for (let count = 0; count < 100; count++) {
    monitor.recordLimited('network_memory');
    monitor.recordLimited('body_progress');
    monitor.sweep(false);
  }
  assert.equal(monitor.state, 'normal');
  assert.equal(counted.length, 200);
  assert.deepEqual(lines, [
    { level: 'warn', event: 'http.network_share_exceeded_started' },
    { level: 'warn', event: 'http.stalled_bodies_started' },
  ]);
});
