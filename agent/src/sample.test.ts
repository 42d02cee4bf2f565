import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Collectors, PartName } from './collector.ts';
import { openSampler } from './sample.ts';

/** A clock that a test moves. */
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
  const log = {
    warn: (message: string, fields = {}) =>
      void warnings.push(`${message} ${JSON.stringify(fields)}`),
  };
  return { clock, warnings, sampler: openSampler(collectors, clock, log) };
}

const load = { load_1m: 1, load_5m: 1, load_15m: 1, runnable_tasks: 1, tasks: 1 };

test('a collector that throws costs its own part, and is logged once a minute', () => {
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
    'A collector failed: broken sensor {"collector":"uptime_seconds"}',
    'A collector failed: broken sensor {"collector":"uptime_seconds"}',
  ]);
});

test('what went wrong with a part of what a collector gives costs nothing, and is logged once a minute', () => {
  const { clock, warnings, sampler } = open({
    load: { collect: () => load, takeProblem: () => 'one of two sensors is broken' },
  });
  for (const ms of [0, 59_999, 60_000]) {
    clock.ms = ms;
    assert.deepEqual(sampler.sample().load, load);
  }
  const warning =
    'A collector returned an incomplete part: one of two sensors is broken {"collector":"load"}';
  assert.deepEqual(warnings, [warning, warning]);
});

test('a collector that gives figures that are none costs its own part, and is named with the field', () => {
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
  assert.match(warnings[0] ?? '', /cpu\.some\.average_60s_ratio is not a finite number/);
});

test('a collector that takes long is suspended for a minute', () => {
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
  assert.match(
    harness.warnings[0] ?? '',
    /^A collector is suspended for a minute: it took 300 ms\. /,
  );
});

test('a collector that is late because others had the processor goes on, and one that hangs does not', () => {
  const spend = (ms: number, waitMs: number): void => {
    harness.clock.ms += ms;
    harness.clock.waitMs += waitMs;
  };
  const harness = open({
    uptime_seconds: { collect: () => (spend(800, 750), 5) },
    load: { collect: () => (spend(800, 100), load) },
  });
  for (let tick = 0; tick < 3; tick += 1) assert.equal(harness.sampler.sample().uptime_seconds, 5);
  assert.deepEqual(harness.warnings, [
    'A collector is suspended for a minute: it took 700 ms. {"collector":"load"}',
  ]);
});

test('what the machine lacks is absent', () => {
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

test('closing closes every collector', () => {
  const closed: string[] = [];
  const collector = (name: string) => ({
    collect: () => null,
    close: () => void closed.push(name),
  });
  open({ load: collector('load'), cpu: collector('cpu') }).sampler.close();
  assert.deepEqual(closed, ['load', 'cpu']);
});
