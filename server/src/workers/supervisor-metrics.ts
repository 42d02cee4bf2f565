import { Counter, Gauge, Registry } from 'prom-client';

import type { WorkerCounts } from '#server/features/health/dependencies.ts';

import type { MetricsSnapshot } from './metrics-snapshot.ts';

/** The metrics of the supervisor itself. */
export interface SupervisorMetrics {
  /** Counts a worker that ended, for whatever reason. */
  countEnd(): void;
  snapshot(): Promise<MetricsSnapshot>;
}

/** Creates the metrics. @param readCounts is called at each scrape */
export function createSupervisorMetrics(readCounts: () => WorkerCounts): SupervisorMetrics {
  const registry = new Registry();
  const registers = [registry];
  const workers = new Gauge({
    name: 'latchkey_workers',
    help: 'Workers that serve requests (running), and the number that was configured (wanted).',
    labelNames: ['state'],
    registers: [],
    collect() {
      for (const [state, number] of Object.entries(readCounts())) this.set({ state }, number);
    },
  });
  registry.registerMetric(workers);
  const ends = new Counter({
    name: 'latchkey_worker_ends_total',
    help: 'Workers that ended: failed, or replaced by a rolling restart.',
    registers,
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the supervisor since unix epoch in seconds.',
    aggregator: 'min',
    registers,
  }).set(Math.round(Date.now() / 1_000 - process.uptime()));
  return { countEnd: () => ends.inc(), snapshot: () => registry.getMetricsAsJSON() };
}
