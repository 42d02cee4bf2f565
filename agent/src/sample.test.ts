import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Collectors, PartName } from './collector.ts';
import type { Log } from './log.ts';
import { openSampler } from './sample.ts';

/** Opens a clock that the test sets. */
function stoppedClock() {
  const clock = {
    ms: 0,
    waitMs: 0,
    now: () => new Date(clock.ms),
    monotonicMs: () => clock.ms,
    processorWaitMs: () => clock.waitMs,
  };
  return clock;
}

function open(collectors: Collectors) {
  const clock = stoppedClock();
  const warnings: string[] = [];
  const log: Log = {
    warn: (event, _message, { collector, reason } = {}) =>
      void warnings.push(`${event} ${collector}: ${reason}`),
  };
  return { clock, warnings, sampler: openSampler(collectors, clock, log) };
}

const load = { load_1m: 1, load_5m: 1, load_15m: 1, runnable_tasks: 1, tasks: 1 };

test('leaves out the part of a collector that throws, and logs it once a minute', () => {
  const { clock, warnings, sampler } = open({
    uptime_seconds: {
      collect: () => {
        throw new Error('broken sensor');
      },
    },
    load: { collect: () => load },
  });
  for (let second = 0; second < 61; second += 1) {
    clock.ms = second * 1000;
    assert.deepEqual(sampler.sample(), { time: clock.now().toISOString(), load });
  }
  assert.deepEqual(warnings, [
    'collector.failed uptime_seconds: broken sensor',
    'collector.failed uptime_seconds: broken sensor',
  ]);
});

test('keeps a part with a problem, and logs the problem once a minute', () => {
  const { clock, warnings, sampler } = open({
    load: { collect: () => load, takeProblem: () => 'one of two sensors is broken' },
  });
  for (const ms of [0, 59_999, 60_000]) {
    clock.ms = ms;
    assert.deepEqual(sampler.sample().load, load);
  }
  const warning = 'collector.incomplete load: one of two sensors is broken';
  assert.deepEqual(warnings, [warning, warning]);
});

test('leaves out a part with NaN, and logs the path of the field', () => {
  const { warnings, sampler } = open({
    pressure: {
      collect: () => ({
        cpu: {
          some: {
            average_10s_ratio: 0,
            average_60s_ratio: Number.NaN,
            average_300s_ratio: 0,
            stall_seconds_total: 0,
          },
        },
      }),
    },
    load: { collect: () => load },
  });
  assert.deepEqual(Object.keys(sampler.sample()), ['time', 'load']);
  assert.deepEqual(warnings, [
    'collector.failed pressure: cpu.some.average_60s_ratio is not a finite number',
  ]);
});

test('suspends a slow collector for a minute', () => {
  let calls = 0;
  const collectors: Collectors = {
    uptime_seconds: {
      collect: () => {
        calls += 1;
        harness.clock.ms += 300;
        return 5;
      },
    },
  };
  const harness = open(collectors);
  assert.equal(harness.sampler.sample().uptime_seconds, 5);
  harness.clock.ms = 60_000;
  assert.equal(harness.sampler.sample().uptime_seconds, undefined);
  harness.clock.ms = 60_301;
  assert.equal(harness.sampler.sample().uptime_seconds, 5);
  assert.equal(calls, 2);
  assert.equal(harness.warnings[0], 'collector.suspended uptime_seconds: it took 300 ms');
});

test('does not count time in which other processes had the processor as slow', () => {
  const spend = (ms: number, waitMs: number): void => {
    harness.clock.ms += ms;
    harness.clock.waitMs += waitMs;
  };
  const harness = open({
    uptime_seconds: { collect: () => (spend(800, 750), 5) },
    load: { collect: () => (spend(800, 100), load) },
  });
  for (let tick = 0; tick < 3; tick += 1) assert.equal(harness.sampler.sample().uptime_seconds, 5);
  assert.deepEqual(harness.warnings, ['collector.suspended load: it took 700 ms']);
});

test('leaves out what the machine lacks', () => {
  const { sampler, warnings } = open({ load: { collect: () => null } });
  assert.deepEqual(Object.keys(sampler.sample()), ['time']);
  assert.deepEqual(warnings, []);
});

test('wakes idle collectors alone, and notifies those that are left out', () => {
  const records: string[] = [];
  const openAs = (name: string) => ({
    collect(atMs: number) {
      records.push(`${name} ${atMs}`);
      return null;
    },
    idle: (atMs: number) => void records.push(`${name} rests ${atMs}`),
  });
  const { clock, sampler } = open({ load: openAs('load'), units: openAs('units') });
  const history: ReadonlySet<PartName> = new Set<PartName>(['load']);
  sampler.sample(history);
  clock.ms = 990;
  sampler.wake(history);
  clock.ms = 1000;
  sampler.sample();
  assert.deepEqual(records, ['units rests 0', 'load 0', 'units 990', 'load 1000', 'units 1000']);
});

test('closes every collector', () => {
  const closed: string[] = [];
  const collector = (name: string) => ({
    collect: () => null,
    close: () => void closed.push(name),
  });
  open({ load: collector('load'), cpu: collector('cpu') }).sampler.close();
  assert.deepEqual(closed, ['load', 'cpu']);
});
