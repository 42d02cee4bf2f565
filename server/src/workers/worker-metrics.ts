import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';

import { isRecord } from '#server/lib/unknown-values.ts';

import type { WorkerProcess } from './worker-process.ts';

/** The metrics of a process, as `Registry.getMetricsAsJSON` returns them. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

const CUMULATIVE = new Set<unknown>(['counter', 'histogram']);
const TIMEOUT_MS = 3_000;

/**
 * The metrics of all workers together. Each metric declares how its values are combined (`aggregator`): summed, unless every
 * worker reads the same number. What ended workers counted remains in the sums, so that counters never decrease.
 */
export class WorkerMetrics {
  readonly #last = new Map<WorkerProcess, MetricsSnapshot>();
  #ended: Promise<MetricsSnapshot> = Promise.resolve([]);

  /** Keeps the last numbers of a worker, which it sends before it ends. */
  record(worker: WorkerProcess, snapshot: unknown): void {
    if (isSnapshot(snapshot)) this.#last.set(worker, snapshot);
  }

  /** Adds what a worker counted to the sums of ended workers. A killed one loses what it counted since the last scrape. */
  addEnded(worker: WorkerProcess): void {
    const last = this.#last.get(worker) ?? [];
    this.#last.delete(worker);
    const counted = last.filter(({ type }) => CUMULATIVE.has(type));
    this.#ended = this.#ended.then((sums) => aggregate([sums, counted]).getMetricsAsJSON());
  }

  /**
   * Reads the metrics of the workers and returns the sums in the Prometheus text format. A worker that does not answer counts
   * with its last numbers.
   * @param own the metrics of the supervisor
   */
  async render(workers: readonly WorkerProcess[], own: MetricsSnapshot): Promise<string> {
    await Promise.all(workers.map((worker) => this.#read(worker)));
    // The supervisor decides first how a metric is combined.
    return aggregate([own, ...this.#last.values(), await this.#ended]).metrics();
  }

  async #read(worker: WorkerProcess): Promise<void> {
    try {
      this.record(worker, await worker.channel.request('metrics', null, TIMEOUT_MS));
    } catch {
      // Its last numbers count.
    }
  }
}

function aggregate(snapshots: readonly MetricsSnapshot[]) {
  return AggregatorRegistry.aggregate(snapshots.map((each) => [...each]));
}

/** From a worker of this program, perhaps of another version: the names and values are its own. */
function isSnapshot(value: unknown): value is MetricsSnapshot {
  return (
    Array.isArray(value) &&
    value.every((each) => isRecord(each) && Array.isArray(each['values']) && 'type' in each)
  );
}
