import { setTimeout as sleep } from 'node:timers/promises';

import type { Pool } from 'pg';
import { Type } from 'typebox';

import { defineStatement, queryRow } from '#server/db/statement.ts';

import { divideRun } from '../plan/divide-run.ts';
import type { Service } from '../service/service.ts';
import { listWorkers, readMemoryMib } from '../service/processes.ts';
import { averageSize, readBatchSizes } from './metrics-text.ts';

/** The state of service and database at a time; null: it could not be read. */
export interface Sample {
  /** Since the start of the load. */
  readonly atSeconds: number;
  /** Resident memory of the service and its workers. */
  readonly memoryMib: number | null;
  readonly databaseMib: number | null;
  /** The write-ahead log written since the start of the load. */
  readonly walMib: number | null;
  /** The average number of calls in the batches since the last sample, by batch. */
  readonly batchSizes: ReadonlyMap<string, number | null>;
}

/** The most samples of a run, so that memory does not grow with its length. */
const MAX_SAMPLES = 600;
const MIB = 1_048_576;
const SCRAPE_TIMEOUT_MS = 2_000;

const sizesStatement = defineStatement(
  'soak_read_sizes',
  Type.Object({ database_bytes: Type.Number(), wal_bytes: Type.Number() }),
  `select pg_database_size(current_database())::float8 as database_bytes,
          (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 as wal_bytes`,
);

interface SamplerOptions {
  readonly service: Service;
  readonly pool: Pool;
  readonly metricsToken: string;
  readonly startedAt: number;
  readonly durationMs: number;
}

/** Reads memory, sizes and metrics at an interval. */
export class Sampler {
  readonly samples: Sample[] = [];
  readonly #options: SamplerOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #lastSizes: ReturnType<typeof readBatchSizes> = new Map();
  #firstWalBytes: number | null = null;

  constructor(options: SamplerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const intervalMs = divideRun(this.#options.durationMs, MAX_SAMPLES);
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const sample = await this.#take();
      if (this.samples.length < MAX_SAMPLES) this.samples.push(sample);
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #take(): Promise<Sample> {
    const atSeconds = (performance.now() - this.#options.startedAt) / 1_000;
    const [memoryMib, sizes, batchSizes] = await Promise.all([
      this.#readMemory(),
      this.#readSizes(),
      this.#readBatches(),
    ]);
    return { atSeconds, memoryMib, ...sizes, batchSizes };
  }

  async #readMemory(): Promise<number | null> {
    const { pid } = this.#options.service;
    return pid === null ? null : readMemoryMib([pid, ...(await listWorkers(pid))]);
  }

  async #readSizes(): Promise<Pick<Sample, 'databaseMib' | 'walMib'>> {
    try {
      const row = await queryRow(this.#options.pool, sizesStatement, []);
      if (row === null) return { databaseMib: null, walMib: null };
      this.#firstWalBytes ??= row.wal_bytes;
      const walMib = (row.wal_bytes - this.#firstWalBytes) / MIB;
      return { databaseMib: row.database_bytes / MIB, walMib };
    } catch {
      // A fault: the database is down.
      return { databaseMib: null, walMib: null };
    }
  }

  async #readBatches(): Promise<Sample['batchSizes']> {
    try {
      const headers = { authorization: `Bearer ${this.#options.metricsToken}` };
      const signal = AbortSignal.timeout(SCRAPE_TIMEOUT_MS);
      const response = await fetch(`${this.#options.service.url}/metrics`, { headers, signal });
      if (!response.ok) return new Map();
      const sizes = readBatchSizes(await response.text());
      const averages = Array.from(
        sizes,
        ([batch, observed]) => [batch, averageSize(this.#lastSizes.get(batch), observed)] as const,
      );
      this.#lastSizes = sizes;
      return new Map(averages);
    } catch {
      // A fault: the service does not answer.
      return new Map();
    }
  }
}
