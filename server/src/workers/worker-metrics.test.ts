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
