import { setTimeout as sleep } from 'node:timers/promises';

/** The result of a load. */
export interface LoadResult {
  readonly requestsPerSecond: number;
  /** In milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly requests: number;
  /** Answers other than 200, and due requests without an answer. */
  readonly failures: number;
}

const WARM_UP_MS = 1_000;

/** Records latencies after a warm-up of one second. */
export class Recorder {
  #latencies: number[] = [];
  #failures = 0;

  add(latencyMs: number, status: number): void {
    this.#latencies.push(latencyMs);
    if (status !== 200) this.#failures++;
  }

  async recordFor(seconds: number): Promise<LoadResult> {
    await sleep(WARM_UP_MS);
    this.#latencies = [];
    this.#failures = 0;
    const startedAt = performance.now();
    await sleep(seconds * 1000);
    const elapsedSeconds = (performance.now() - startedAt) / 1000;
    const sorted = Float64Array.from(this.#latencies).sort();
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
    return {
      requestsPerSecond: sorted.length / elapsedSeconds,
      p50: at(0.5),
      p99: at(0.99),
      max: at(1),
      requests: sorted.length,
      failures: this.#failures,
    };
  }
}
