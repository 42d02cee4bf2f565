import { divideRun } from '../plan/divide-run.ts';
import { BUCKETS, bucketOf, percentile } from './histogram.ts';
import { isNormal, OPERATIONS, type Operation } from './operations.ts';

/** The most slices of time, so that memory does not grow with the length of a run. */
const MAX_SLICES = 600;

/** What happened in a slice of time. */
export interface LoadSlice {
  /** Seconds since the start of the load. */
  readonly atSeconds: number;
  readonly perSecond: number;
  /** Unusual outcomes a second. */
  readonly unusualPerSecond: number;
  /** How long after it was due the latest request was sent. */
  readonly behindSeconds: number;
  /** Milliseconds by operation; null: none. */
  readonly p50: Readonly<Record<Operation, number | null>>;
  readonly p99: Readonly<Record<Operation, number | null>>;
}

/** A request that ended. Times are milliseconds of `performance.now()`. */
export interface Ended {
  readonly operation: Operation;
  /** A status with the code of its problem (`503 overloaded`), or one of the outcomes without a status. */
  readonly outcome: string;
  readonly dueAt: number;
  /** When a connection was free for it. */
  readonly sentAt: number;
  readonly endedAt: number;
}

/** Records latencies and outcomes of requests over time: histograms, not requests. */
export class Recorder {
  readonly #startedAt: number;
  readonly #sliceMs: number;
  readonly #histograms: Uint32Array;
  readonly #unusual: Uint32Array;
  /** The longest milliseconds of each slice by which a request was sent late. */
  readonly #behindMs: Float64Array;
  /** The number of each outcome of each operation. */
  readonly #outcomes = new Map<string, number>();

  constructor(startedAt: number, durationMs: number) {
    this.#startedAt = startedAt;
    this.#sliceMs = divideRun(durationMs, MAX_SLICES);
    this.#histograms = new Uint32Array(MAX_SLICES * OPERATIONS.length * BUCKETS);
    this.#unusual = new Uint32Array(MAX_SLICES);
    this.#behindMs = new Float64Array(MAX_SLICES);
  }

  record({ operation, outcome, dueAt, sentAt, endedAt }: Ended): void {
    const sentSlice = this.#sliceAt(sentAt);
    this.#behindMs[sentSlice] = Math.max(this.#behindMs[sentSlice] ?? 0, sentAt - dueAt);
    const slice = this.#sliceAt(endedAt);
    const bucket = this.#offset(slice, operation) + bucketOf(endedAt - dueAt);
    this.#histograms[bucket] = (this.#histograms[bucket] ?? 0) + 1;
    if (!isNormal(operation, outcome)) this.#unusual[slice] = (this.#unusual[slice] ?? 0) + 1;
    const key = `${operation}: ${outcome}`;
    this.#outcomes.set(key, (this.#outcomes.get(key) ?? 0) + 1);
  }

  /** Returns the number of each outcome, as `operation: outcome`. */
  get outcomes(): ReadonlyMap<string, number> {
    return this.#outcomes;
  }

  /** Returns the number of requests that ended. */
  get total(): number {
    return [...this.#outcomes.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Returns the number of requests of an operation that ended. */
  count(operation: Operation): number {
    const own = [...this.#outcomes].filter(([key]) => key.startsWith(`${operation}: `));
    return own.reduce((sum, [, count]) => sum + count, 0);
  }

  /** Returns by how many seconds a request was sent late at most: the load was so far behind its plan. */
  get behindSeconds(): number {
    return Math.max(...this.#behindMs) / 1_000;
  }

  /** Returns a percentile over the whole time; null without requests. */
  percentile(operation: Operation, share: number): number | null {
    const sums = new Uint32Array(BUCKETS);
    for (let slice = 0; slice < MAX_SLICES; slice++) {
      this.#countsOf(slice, operation).forEach((count, bucket) => {
        sums[bucket] = (sums[bucket] ?? 0) + count;
      });
    }
    return percentile(sums, share);
  }

  /** Returns the slices until a time. */
  listSlices(until: number): LoadSlice[] {
    const length = this.#sliceAt(until) + 1;
    return Array.from({ length }, (_, slice) => this.#readSlice(slice));
  }

  /** Returns the last complete slice at a time. */
  lastSlice(now: number): LoadSlice {
    return this.#readSlice(Math.max(0, this.#sliceAt(now) - 1));
  }

  #readSlice(slice: number): LoadSlice {
    const seconds = this.#sliceMs / 1_000;
    const each = (share: number) => (operation: Operation) =>
      percentile(this.#countsOf(slice, operation), share);
    const all = OPERATIONS.flatMap((operation) => [...this.#countsOf(slice, operation)]);
    return {
      atSeconds: slice * seconds,
      perSecond: all.reduce((sum, count) => sum + count, 0) / seconds,
      unusualPerSecond: (this.#unusual[slice] ?? 0) / seconds,
      behindSeconds: (this.#behindMs[slice] ?? 0) / 1_000,
      p50: mapOperations(each(0.5)),
      p99: mapOperations(each(0.99)),
    };
  }

  #countsOf(slice: number, operation: Operation): Uint32Array {
    const offset = this.#offset(slice, operation);
    return this.#histograms.subarray(offset, offset + BUCKETS);
  }

  #offset(slice: number, operation: Operation): number {
    return (slice * OPERATIONS.length + OPERATIONS.indexOf(operation)) * BUCKETS;
  }

  #sliceAt(time: number): number {
    return Math.min(
      MAX_SLICES - 1,
      Math.max(0, Math.floor((time - this.#startedAt) / this.#sliceMs)),
    );
  }
}

function mapOperations<Value>(
  create: (operation: Operation) => Value,
): Readonly<Record<Operation, Value>> {
  return {
    validate: create('validate'),
    heartbeat: create('heartbeat'),
    events: create('events'),
    activate: create('activate'),
    deactivate: create('deactivate'),
    trial: create('trial'),
    check: create('check'),
    webhook: create('webhook'),
    subscribe: create('subscribe'),
    outreach: create('outreach'),
    list: create('list'),
    report: create('report'),
  };
}
