import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { createHistogram } from './lib/histogram.ts';
import type { Series } from './lib/histogram.ts';

/** How many connections a pool has, has free, and how many callers wait for one. */
export interface PoolNumbers {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

/** How many jobs are to be done, and how many were tried in vain as often as they may be. */
export interface JobNumbers {
  readonly open: number;
  readonly givenUp: number;
}

/** How many events of payment providers are to be tried again, and how many were given up. */
export interface PaymentEventNumbers {
  readonly deferred: number;
  readonly failed: number;
}

/** E-mails with keys and deliveries to endpoints that failed lately, and endpoints that were disabled for failing. */
export interface UndeliveredNumbers {
  readonly keyEmails: number;
  readonly deliveries: number;
  readonly endpoints: number;
}

/** Everything that is measured. Cheap to call; the work is done when it is scraped. */
export interface Metrics {
  /** One answered request; `route` is the pattern of the route, never the path that was asked for. */
  observeRequest(route: string, method: string, status: number, seconds: number): void;
  /** One batch that was sent to the database: how many calls it carried and how long it took. */
  observeBatch(name: string, size: number, seconds: number): void;
  /** Has the number of calls that wait for their batch read at each scrape. */
  setQueueDepth(name: string, read: () => number): void;
  /** Has the database pool read at each scrape. */
  setDatabasePool(read: () => PoolNumbers): void;
  /** One request that was understood and refused; `reason` is a code of the interface, never free text. */
  countRefusal(operation: string, reason: string): void;
  /** One try of a job; `given_up` is the last one, in vain. */
  countJob(job: string, outcome: 'done' | 'failed' | 'given_up'): void;
  /** One e-mail that was handed to the relay and what became of it. */
  countMail(mail: string, outcome: 'sent' | 'temporary' | 'lasting' | 'unknown'): void;
  /** Has the jobs in the database read at each scrape; null while they have not been counted. */
  setJobs(read: () => JobNumbers | null): void;
  /** Has the payment providers' events that were not applied read at each scrape; null while they have not been counted. */
  setPaymentEvents(read: () => PaymentEventNumbers | null): void;
  /** Has what did not reach somebody read at each scrape; null while it has not been counted. */
  setUndelivered(read: () => UndeliveredNumbers | null): void;
  /** One verified event of a payment provider and what became of it. */
  countWebhook(provider: string, status: string): void;
  /** Analytics events by what became of them: `accepted`, or why they were dropped. */
  countEvents(outcome: string, count: number): void;
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
  const requestSeries = cacheSeries((route, method, status) =>
    requests.series({ route, method, status }),
  );
  const sizeSeries = cacheSeries((batch) => batchSizes.series({ batch }));
  const durationSeries = cacheSeries((batch) => batchDurations.series({ batch }));

  return {
    observeRequest: (route, method, status, seconds) =>
      requestSeries(route, method, status).observe(seconds),
    observeBatch: (name, size, seconds) => {
      sizeSeries(name, '', 0).observe(size);
      durationSeries(name, '', 0).observe(seconds);
    },
    setQueueDepth: createQueueGauge(registry),
    setDatabasePool: (read) => addPoolGauges(registry, read),
    ...createCounters(registry),
    setJobs: (read) => addJobGauge(registry, read),
    setRollupAge: (read) => addRollupGauge(registry, read),
    setPaymentEvents: (read) => addPaymentEventGauge(registry, read),
    setUndelivered: (read) => addUndeliveredGauge(registry, read),
    render: async () =>
      [
        await registry.metrics(),
        requests.render(),
        batchSizes.render(),
        batchDurations.render(),
      ].join('\n'),
  };
}

/** What is counted seldom enough for the library's own counters. */
function createCounters(
  registry: Registry,
): Pick<Metrics, 'countRefusal' | 'countWebhook' | 'countMail' | 'countJob' | 'countEvents'> {
  const refusals = new Counter({
    name: 'latchkey_refusals_total',
    help: 'Requests that were understood and refused.',
    labelNames: ['operation', 'reason'],
    registers: [registry],
  });

  const mails = new Counter({
    name: 'latchkey_mails_total',
    help: 'E-mails handed to the relay by what became of them; lasting is a refusal for good.',
    labelNames: ['mail', 'outcome'],
    registers: [registry],
  });
  const jobs = new Counter({
    name: 'latchkey_job_attempts_total',
    help: 'Tries of jobs by how they went; given_up is a last try in vain.',
    labelNames: ['job', 'outcome'],
    registers: [registry],
  });

  const webhooks = new Counter({
    name: 'latchkey_webhook_events_total',
    help: 'Verified events of payment providers.',
    labelNames: ['provider', 'status'],
    registers: [registry],
  });
  const events = new Counter({
    name: 'latchkey_events_total',
    help: 'Analytics events by what became of them: accepted, or why they were dropped.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return {
    countEvents: (outcome, count) => events.inc({ outcome }, count),
    countRefusal: (operation, reason) => refusals.inc({ operation, reason }),
    countWebhook: (provider, status) => webhooks.inc({ provider, status }),
    countMail: (mail, outcome) => mails.inc({ mail, outcome }),
    countJob: (job, outcome) => jobs.inc({ job, outcome }),
  };
}

/** Finds a series by three lookups in nested maps, without building a key. */
function cacheSeries(make: (route: string, method: string, status: string) => Series) {
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

function addBuildInfo(registry: Registry, version: string): void {
  new Gauge({
    name: 'latchkey_build_info',
    help: 'Always 1; the labels tell what is running.',
    labelNames: ['version', 'node_version'],
    registers: [registry],
  }).set({ version, node_version: process.versions.node }, 1);
}

function createQueueGauge(registry: Registry): Metrics['setQueueDepth'] {
  const readers = new Map<string, () => number>();
  const gauge = new Gauge({
    name: 'latchkey_queue_depth',
    help: 'Calls that wait for their batch.',
    labelNames: ['queue'],
    registers: [registry],
    collect() {
      for (const [queue, read] of readers) this.set({ queue }, read());
    },
  });
  return (name, read) => {
    readers.set(name, read);
    gauge.set({ queue: name }, 0);
  };
}

function addJobGauge(registry: Registry, read: () => JobNumbers | null): void {
  const gauge = new Gauge({
    name: 'latchkey_jobs',
    help: 'Jobs in the database, counted once a minute.',
    labelNames: ['state'],
    registers: [],
    collect() {
      const numbers = read();
      if (numbers === null) return;
      this.set({ state: 'open' }, numbers.open);
      this.set({ state: 'given_up' }, numbers.givenUp);
    },
  });
  registry.registerMetric(gauge);
}

function addPaymentEventGauge(registry: Registry, read: () => PaymentEventNumbers | null): void {
  const gauge = new Gauge({
    name: 'latchkey_payment_events_unapplied',
    help: 'Events of payment providers that were not applied, counted once a minute.',
    labelNames: ['status'],
    registers: [],
    collect() {
      const numbers = read();
      if (numbers === null) return;
      this.set({ status: 'deferred' }, numbers.deferred);
      this.set({ status: 'failed' }, numbers.failed);
    },
  });
  registry.registerMetric(gauge);
}

function addUndeliveredGauge(registry: Registry, read: () => UndeliveredNumbers | null): void {
  const gauge = new Gauge({
    name: 'latchkey_undelivered',
    help: 'E-mails with keys and deliveries to endpoints that failed for good in the last week, and endpoints that are disabled for failing, counted once a minute.',
    labelNames: ['kind'],
    registers: [],
    collect() {
      const numbers = read();
      if (numbers === null) return;
      this.set({ kind: 'key_emails' }, numbers.keyEmails);
      this.set({ kind: 'deliveries' }, numbers.deliveries);
      this.set({ kind: 'endpoints' }, numbers.endpoints);
    },
  });
  registry.registerMetric(gauge);
}

function addRollupGauge(registry: Registry, read: () => number | null): void {
  const gauge = new Gauge({
    name: 'latchkey_rollup_age_seconds',
    help: 'Time since the roll-ups of usage and events were up to date.',
    registers: [],
    collect() {
      const seconds = read();
      if (seconds === null) this.remove();
      else this.set(seconds);
    },
  });
  registry.registerMetric(gauge);
}

function addPoolGauges(registry: Registry, read: () => PoolNumbers): void {
  const connections = new Gauge({
    name: 'latchkey_database_pool_connections',
    help: 'Connections to the database by state.',
    labelNames: ['state'],
    registers: [],
    collect() {
      const { total, idle } = read();
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'used' }, total - idle);
    },
  });
  const waiting = new Gauge({
    name: 'latchkey_database_pool_waiting',
    help: 'Callers that wait for a connection.',
    registers: [],
    collect() {
      this.set(read().waiting);
    },
  });
  registry.registerMetric(connections);
  registry.registerMetric(waiting);
}
