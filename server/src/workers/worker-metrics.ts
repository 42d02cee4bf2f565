import { AggregatorRegistry } from 'prom-client';

import type { Logger } from '#server/log.ts';

import { isTooLarge, readSnapshot, type MetricsSnapshot } from './metrics-snapshot.ts';
import type { WorkerProcess } from './worker-process.ts';

const CUMULATIVE = new Set<unknown>(['counter', 'histogram']);
const TIMEOUT_MS = 3_000;

/**
 * The metrics of all workers together. Each metric declares how its values are combined (`aggregator`): summed, unless every
 * worker reads the same number. What ended workers counted remains in the sums, so that counters never decrease.
 */
export class WorkerMetrics {
  readonly #last = new Map<WorkerProcess, MetricsSnapshot>();
  readonly #log: Pick<Logger, 'error'>;
  #ended: Promise<MetricsSnapshot> = Promise.resolve([]);

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  /** Keeps the last numbers of a worker, which it sends before it ends. Those that are not valid or too large are ignored. */
  record(worker: WorkerProcess, payload: unknown): void {
    const snapshot = readSnapshot(payload);
    if (snapshot !== null) this.#last.set(worker, snapshot);
  }

  /** Adds what a worker counted to the sums of ended workers. A killed one loses what it counted since the last scrape. */
  addEnded(worker: WorkerProcess): void {
    const last = this.#last.get(worker) ?? [];
    this.#last.delete(worker);
    const counted = last.filter(({ type }) => CUMULATIVE.has(type));
    this.#ended = this.#ended.then((sums) => this.#sum(sums, counted));
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

  /** Never rejects: a rejection that nothing handles would end the supervisor. */
  async #sum(sums: MetricsSnapshot, counted: MetricsSnapshot): Promise<MetricsSnapshot> {
    try {
      const next = await aggregate([sums, counted]).getMetricsAsJSON();
      if (isTooLarge(next)) throw new Error('too many values');
      return next;
    } catch (error) {
      const message = 'could not add the metrics of an ended worker';
      this.#log.error({ event: 'worker.metrics_lost', err: error }, message);
      return sums;
    }
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
