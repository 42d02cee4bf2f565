import { Registry, collectDefaultMetrics } from 'prom-client';

import type { Backlog } from './features/health/count-backlog.ts';
import { createHistogram, type Series } from './lib/histogram.ts';
import { createCounters, createTaskCounter } from './metrics-counters.ts';
import {
  addBacklogGauges,
  addBuildInfo,
  addHttpLoadGauges,
  addPoolGauges,
  addQueueGauge,
  addRollupGauge,
} from './metrics-gauges.ts';

/** How many connections a pool has, has free, and how many callers wait for one. */
export interface PoolNumbers {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

/** How loaded the HTTP layer is. */
export interface HttpLoad {
  readonly state: 'normal' | 'overloaded' | 'refusing';
  /** Reserved for requests with bodies of the usual length and with larger ones. */
  readonly memory: Readonly<
    Record<'usual' | 'large', { readonly usedBytes: number; readonly maxBytes: number }>
  >;
}

/** Everything that is measured. Cheap to call; the work is done when it is scraped. */
export interface Metrics {
  /** One answered request; `route` is the pattern of the route, never the path that was asked for. */
  observeRequest(route: string, method: string, status: number, seconds: number): void;
  /** One batch that was sent to the database: how many calls it carried and how long it took. */
  observeBatch(name: string, size: number, seconds: number): void;
  /** One request that was understood and refused; `reason` is a code of the interface, never free text. */
  countRefusal(operation: string, reason: string): void;
  /** One try of a job; `given_up` is the last one, in vain. */
  countJob(job: string, outcome: 'done' | 'failed' | 'given_up'): void;
  /** One run of a background task. */
  countTask(task: string, outcome: 'succeeded' | 'failed'): void;
  /** One e-mail that was handed to the relay and what became of it. */
  countMail(mail: string, outcome: 'sent' | 'temporary' | 'permanent' | 'unknown'): void;
  /** One verified event of a payment provider and what became of it. */
  countWebhook(provider: string, status: string): void;
  /** Analytics events by what became of them: `accepted`, or why they were dropped. */
  countEvents(outcome: string, count: number): void;
  /** One request or connection that a limit of the HTTP layer ended. */
  countHttpLimited(limit: string): void;
  /** Has the load of the HTTP layer read at each scrape. */
  setHttpLoad(read: () => HttpLoad): void;
  /** Has the number of calls that wait for their batch read at each scrape. */
  setQueueDepth(name: string, read: () => number): void;
  /** Has the database pool read at each scrape. */
  setDatabasePool(read: () => PoolNumbers): void;
  /** Has the backlog read at each scrape; null while it has not been counted. */
  setBacklog(read: () => Pick<Backlog, 'jobs' | 'events' | 'undelivered'> | null): void;
  /** Has the age of the roll-ups, in seconds, read at each scrape; null while it is not known. */
  setRollupAge(read: () => number | null): void;
  /** All of it in the Prometheus text format. */
  render(): Promise<string>;
}

/** The media type of `render`'s text. */
export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE;

const SECONDS_BOUNDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const SIZE_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** How often the delay of the event loop is sampled: seldom enough to cost nothing. */
const EVENT_LOOP_SAMPLE_MS = 100;

/** Starts measuring, from zero. @param build what the build information says */
export function createMetrics(build: { readonly version: string }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  addBuildInfo(registry, build.version);

  const requests = createHistogram({
    name: 'latchkey_http_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    bounds: SECONDS_BOUNDS,
  });
  const batchSizes = createHistogram({
    name: 'latchkey_batch_size',
    help: 'Calls carried by one batch.',
    bounds: SIZE_BOUNDS,
  });
  const batchDurations = createHistogram({
    name: 'latchkey_batch_duration_seconds',
    help: 'Time that the database took for one batch.',
    bounds: SECONDS_BOUNDS,
  });
  const findRequests = keepRequestSeries((route, method, status) =>
    requests.series({ route, method, status }),
  );
  const findSizes = keepBatchSeries((batch) => batchSizes.series({ batch }));
  const findDurations = keepBatchSeries((batch) => batchDurations.series({ batch }));

  return {
    observeRequest: (route, method, status, seconds) =>
      findRequests(route, method, status).observe(seconds),
    observeBatch: (name, size, seconds) => {
      findSizes(name).observe(size);
      findDurations(name).observe(seconds);
    },
    setQueueDepth: addQueueGauge(registry),
    setHttpLoad: addHttpLoadGauges(registry),
    setDatabasePool: (read) => addPoolGauges(registry, read),
    setBacklog: (read) => addBacklogGauges(registry, read),
    setRollupAge: (read) => addRollupGauge(registry, read),
    ...createCounters(registry),
    countTask: createTaskCounter(registry),
    render: async () =>
      [
        await registry.metrics(),
        requests.render(),
        batchSizes.render(),
        batchDurations.render(),
      ].join('\n'),
  };
}

/** Finds a series by three lookups in nested maps, without building a key. */
function keepRequestSeries(make: (route: string, method: string, status: string) => Series) {
  const routes = new Map<string, Map<string, Map<number, Series>>>();
  return (route: string, method: string, status: number): Series => {
    const found = routes.get(route)?.get(method)?.get(status);
    if (found !== undefined) return found;
    const series = make(route, method, String(status));
    const methods = routes.get(route) ?? new Map<string, Map<number, Series>>();
    const statuses = methods.get(method) ?? new Map<number, Series>();
    routes.set(route, methods.set(method, statuses.set(status, series)));
    return series;
  };
}

function keepBatchSeries(make: (name: string) => Series): (name: string) => Series {
  const kept = new Map<string, Series>();
  return (name) => {
    const series = kept.get(name) ?? make(name);
    kept.set(name, series);
    return series;
  };
}
