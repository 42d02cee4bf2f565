import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Counter, Registry } from 'prom-client';

import { createFakeWorker } from '../../test/workers/fake-worker.ts';
import { WorkerMetrics } from './worker-metrics.ts';

const log = { error: (...args: unknown[]) => assert.fail(JSON.stringify(args)) };

async function snapshotOf(count: number) {
  const registry = new Registry();
  new Counter({ name: 'requests_total', help: 'Requests.', registers: [registry] }).inc(count);
  return registry.getMetricsAsJSON();
}

async function renderWith(malformed: unknown): Promise<string> {
  const metrics = new WorkerMetrics(log);
  const [first, second] = [createFakeWorker(1), createFakeWorker(2)];
  metrics.record(first, [...(await snapshotOf(3)), malformed]);
  metrics.record(second, [...(await snapshotOf(4)), malformed]);
  metrics.addEnded(first);
  return metrics.render([], await snapshotOf(0));
}

const VALID = { name: 'a', help: 'A.', type: 'counter', aggregator: 'sum', values: [] };

const MALFORMED: readonly (readonly [string, unknown])[] = [
  ['no object', null],
  ['an unknown aggregator', { ...VALID, aggregator: 'median' }],
  ['the name of an inherited property as aggregator', { ...VALID, aggregator: 'toString' }],
  ['an unknown type', { ...VALID, type: 'unknown' }],
  ['no list of values', { ...VALID, values: 'none' }],
];

for (const [what, malformed] of MALFORMED) {
  test(`metrics of workers are summed without one that has ${what}`, async () => {
    const text =
      '# HELP requests_total Requests.\n# TYPE requests_total counter\nrequests_total 7\n';
    assert.equal(await renderWith(malformed), text);
  });
}

test('metrics of workers are summed without values that are not valid', async () => {
  const invalid = [null, { labels: null, value: 1 }, { labels: { a: {} }, value: 1 }];
  const noNumber = { labels: { a: 'null' }, value: null };
  const valid = { labels: { a: 'b' }, value: 5 };
  const text = await renderWith({ ...VALID, values: [...invalid, noNumber, valid] });
  assert.deepEqual(text.match(/^a.*$/gmu), ['a{a="b"} 10']);
});

/** Counters that differ by a label, as a worker could send them that was broken into. */
function anyCounters(count: number, label: string): unknown[] {
  const values = Array.from({ length: count }, (_, index) => ({
    labels: { a: `${label} ${index}` },
    value: 1,
  }));
  return [{ ...VALID, values }];
}

test('metrics of a worker that are too many or too long are ignored', async () => {
  const metrics = new WorkerMetrics(log);
  const worker = createFakeWorker(1);
  metrics.record(worker, await snapshotOf(3));
  metrics.record(worker, anyCounters(30_000, ''));
  metrics.record(worker, anyCounters(5, 'a'.repeat(1_000_000)));
  metrics.record(
    worker,
    Array.from({ length: 30_001 }, () => null),
  );
  const text = await metrics.render([], []);
  assert.deepEqual(text.match(/^[^#].*$/gmu), ['requests_total 3']);
});

test('metrics of ended workers have a limit together, and the service continues', async () => {
  const logged: unknown[] = [];
  const metrics = new WorkerMetrics({ error: (fields: unknown) => void logged.push(fields) });
  for (const label of ['one', 'two']) {
    const worker = createFakeWorker(1);
    metrics.record(worker, anyCounters(20_000, label));
    metrics.addEnded(worker);
  }
  const text = await metrics.render([], []);
  assert.equal(text.match(/^a\{a="one \d+"\} 1$/gmu)?.length, 20_000);
  assert.doesNotMatch(text, /two/u);
  assert.deepEqual(logged, [{ event: 'worker.metrics_lost', err: new Error('too many values') }]);
});
