/** Runs all collectors on this machine, whatever its hardware. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { AgentHost, AgentSnapshot } from '@latchkey/contract';
import { Value } from 'typebox/value';

import { readHost } from '#agent/collect/host.ts';
import { openCollectors } from '#agent/collectors.ts';
import type { Log } from '#agent/log.ts';
import { MountProber } from '#agent/probe/mount-prober.ts';
import { BackgroundReader } from '#agent/read/background-reader.ts';
import { machineRoots } from '#agent/roots.ts';
import { openSampler } from '#agent/sample.ts';

import { emptyMachine } from './machine.ts';
import { until } from './wait.ts';

const skip = process.platform === 'linux' ? false : 'reads /proc and /sys of Linux';

/** Opens a sampler on the real machine, with a clock that the test advances; a warning fails the test. */
function openHere(roots = machineRoots) {
  const clock = { ms: 0, now: () => new Date(), monotonicMs: () => clock.ms };
  const prober = new MountProber(clock.monotonicMs);
  const reader = new BackgroundReader(clock.monotonicMs);
  const collectors = openCollectors(roots, { prober, reader });
  const log: Log = {
    warn: (event, _message, fields) => assert.fail(`${event} ${fields?.['reason']}`),
  };
  return { clock, prober, reader, sampler: openSampler(collectors, clock, log) };
}

/** Returns the violations of the schema by a value as viewers receive it. */
function listFaults(schema: typeof AgentSnapshot | typeof AgentHost, value: unknown): unknown[] {
  return [...Value.Errors(schema, JSON.parse(JSON.stringify(value)))];
}

test('the first and later snapshots of this machine match the schema', { skip }, async () => {
  const { clock, prober, reader, sampler } = openHere();
  const first = sampler.sample();
  await until(() => !reader.isStuck());
  clock.ms = 1_000;
  const second = sampler.sample();
  sampler.close();
  prober.close();
  reader.close();
  assert.deepEqual(listFaults(AgentSnapshot, first), []);
  assert.deepEqual(listFaults(AgentSnapshot, second), []);
  assert.ok(first.cpu !== undefined && first.memory !== undefined && first.load !== undefined);
  assert.equal(first.cpu.usage_ratio, undefined);
  assert.equal(second.cpu?.cores.length, second.cpu?.logical_count);
});

test('the facts of this machine match the schema', { skip }, () => {
  assert.deepEqual(listFaults(AgentHost, readHost(machineRoots)), []);
});

test('the snapshot of an empty machine contains only the time', () => {
  using machine = emptyMachine();
  const { sampler } = openHere(machine.roots);
  assert.deepEqual(Object.keys(sampler.sample()), ['time']);
});

test('sampling leaks no file descriptors in ten minutes', { skip }, () => {
  const { clock, sampler } = openHere();
  const countOpen = (ticks: number): number => {
    for (let tick = 0; tick < ticks; tick += 1) {
      clock.ms += 1_000;
      sampler.sample();
    }
    return Number(execFileSync('sh', ['-c', 'ls /proc/$PPID/fd | wc -l'], { encoding: 'utf8' }));
  };
  const afterMinute = countOpen(60);
  const afterTen = countOpen(540);
  // Other processes change the count a little; a leak at each tick would add hundreds.
  assert.ok(afterTen < afterMinute + 50, `${afterMinute}, then ${afterTen}`);
  sampler.close();
});

test('`latchkey-agent once --json` prints a snapshot with rates', { skip }, () => {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const printed: unknown = JSON.parse(
    execFileSync(process.execPath, [main, 'once', '--json'], { encoding: 'utf8' }),
  );
  assert.deepEqual([...Value.Errors(AgentSnapshot, printed)], []);
  assert.ok(Value.Check(AgentSnapshot, printed) && printed.cpu?.usage_ratio !== undefined);
});
