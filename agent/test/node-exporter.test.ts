/** Compares the agent with node_exporter, which reads the same files, on this machine. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import type { AgentSnapshot } from '@latchkey/contract';

import { openCollectors } from '#agent/collectors.ts';
import { MountProber } from '#agent/probe/mount-prober.ts';
import { BackgroundReader } from '#agent/read/background-reader.ts';
import { machineRoots } from '#agent/roots.ts';
import { openSampler } from '#agent/sample.ts';

import {
  type Metrics,
  type NodeExporter,
  findNodeExporter,
  startNodeExporter,
} from './node-exporter.ts';
import { CPU_MODES, listCounters, listLevels, listSizes } from './node-exporter-names.ts';

/** A hundred kernel ticks on each core, enough to compare shares. */
const WINDOW_SECONDS = 1;
const POLL_MS = 50;

/** The two windows differ a little, and more so on a busy machine. */
const SHARE_TOLERANCE = 0.1;

/** The memory that a busy machine allocates or frees between two consecutive readings. */
const LEVEL_TOLERANCE = 256 * 1024 * 1024;

/** CPU times are ticks of 0.01 s, and idle time may decrease by a few. Other counters differ only by rounding. */
const CPU_TOLERANCE = 0.1;
const COUNTER_TOLERANCE = 1e-6;

const PARTS = new Set([
  'cpu',
  'load',
  'memory',
  'swap',
  'disks',
  'network',
  'filesystems',
  'pressure',
] as const);

const program = process.platform === 'linux' ? findNodeExporter() : null;
const skip = program === null ? 'needs node_exporter' : false;

/** The agent's first and last snapshot, and two readings of node_exporter between them. */
interface Readings {
  readonly ours: readonly [AgentSnapshot, AgentSnapshot];
  readonly theirs: readonly [Metrics, Metrics];
}

async function readBoth(context: TestContext): Promise<Readings> {
  const exporter = await startNodeExporter(program ?? '');
  context.after(() => exporter.close());
  const clock = { ms: 0, now: () => new Date(), monotonicMs: () => clock.ms };
  const prober = new MountProber(clock.monotonicMs);
  const reader = new BackgroundReader(clock.monotonicMs);
  const collectors = openCollectors(machineRoots, { prober, reader });
  const sampler = openSampler(collectors, clock, {
    warn: (event, message) => assert.fail(`${event}: ${message}`),
  });
  context.after(() => [sampler, prober, reader].forEach((each) => each.close()));
  // The first reading of each program is slower.
  await exporter.query();
  sampler.sample(PARTS);
  // Filesystems are read again after five seconds.
  clock.ms = 10_000;
  const before = sampler.sample(PARTS);
  const first = await exporter.query();
  const second = await queryAfterWindow(exporter, first);
  clock.ms = 20_000;
  return { ours: [before, sampler.sample(PARTS)], theirs: [first, second] };
}

/** Reads node_exporter until its cores have counted the window since an earlier reading. */
async function queryAfterWindow(exporter: NodeExporter, earlier: Metrics): Promise<Metrics> {
  for (;;) {
    await sleep(POLL_MS);
    const metrics = await exporter.query();
    const seconds = CPU_MODES.map((mode) => sumCores(metrics, mode) - sumCores(earlier, mode));
    if (sum(seconds) >= WINDOW_SECONDS * availableParallelism()) return metrics;
  }
}

/** Returns the seconds that all cores have spent in a mode since boot. */
function sumCores(metrics: Metrics, mode: string): number {
  const isOfMode = (key: string) =>
    key.startsWith('node_cpu_seconds_total{') && key.endsWith(`mode="${mode}"}`);
  return sum([...metrics].flatMap(([key, seconds]) => (isOfMode(key) ? [seconds] : [])));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, each) => total + each, 0);
}

function readMetric(metrics: Metrics, key: string): number {
  const value = metrics.get(key);
  assert.ok(value !== undefined, `node_exporter does not report ${key}`);
  return value;
}

/** Counters must not decrease from our first reading over both of node_exporter's to our last. */
function assertCounters({ ours, theirs }: Readings): void {
  const [before, after] = [listCounters(ours[0]), listCounters(ours[1])];
  for (const [key, first] of before) {
    const all = [
      first,
      ...theirs.map((each) => readMetric(each, key)),
      after.get(key) ?? Number.NaN,
    ];
    const tolerance = key.startsWith('node_cpu') ? CPU_TOLERANCE : COUNTER_TOLERANCE;
    const steps = all.slice(1).map((each, index) => each - (all[index] ?? Number.NaN));
    assert.ok(
      steps.every((step) => step >= -tolerance),
      `${key}: ${all.join(', ')}`,
    );
  }
}

function assertLevels({ ours, theirs }: Readings): void {
  for (const [index, snapshot] of ours.entries()) {
    for (const [key, here] of listLevels(snapshot)) {
      const there = readMetric(theirs[index] ?? new Map(), key);
      assert.ok(Math.abs(here - there) <= LEVEL_TOLERANCE, `${key}: ${here}, ${there} there`);
    }
  }
}

/** The kernel computes the load every five seconds, so theirs equals that of our first or last reading. */
function assertLoad({ ours, theirs }: Readings): void {
  for (const [minutes, key] of [
    [1, 'load_1m'],
    [5, 'load_5m'],
    [15, 'load_15m'],
  ] as const) {
    const here = ours.map(({ load }) => load?.[key]);
    for (const metrics of theirs) {
      const there = readMetric(metrics, `node_load${minutes}`);
      assert.ok(here.includes(there), `load of ${minutes} min: ${here.join(', ')}, ${there} there`);
    }
  }
}

function assertShares({ ours, theirs }: Readings): void {
  const spent = CPU_MODES.map((mode) => sumCores(theirs[1], mode) - sumCores(theirs[0], mode));
  const all = sum(spent);
  for (const [index, mode] of CPU_MODES.entries()) {
    const here = ours[1].cpu?.shares?.[`${mode}_ratio`] ?? Number.NaN;
    const there = (spent[index] ?? Number.NaN) / all;
    assert.ok(Math.abs(here - there) <= SHARE_TOLERANCE, `${mode}: ${here}, ${there} there`);
  }
}

test('reports the same values for this machine as node_exporter', { skip }, async (context) => {
  const readings = await readBoth(context);
  for (const snapshot of readings.ours) {
    const sizes = listSizes(snapshot);
    assert.ok(sizes.size > 0);
    for (const [key, size] of sizes) assert.equal(readMetric(readings.theirs[1], key), size, key);
  }
  assertCounters(readings);
  assertLevels(readings);
  assertLoad(readings);
  assertShares(readings);
});
