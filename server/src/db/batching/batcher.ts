import { overloaded } from '#server/errors.ts';

import { isDatabaseTimeout, isLockTimeout } from '../database-errors.ts';
import { isolateFailures, type BatchResult } from './isolate-failures.ts';

/** Receives the measurements of a batcher. */
export interface BatchObserver {
  /** Called after each batch with its size and its duration. */
  observeBatch(name: string, size: number, seconds: number): void;
  /** Called once with a function that returns the number of waiting calls. */
  setQueueDepth(name: string, read: () => number): void;
}

/** Sends one call to the database, alone or together with others. */
export interface BatchQueue<Input, Output> {
  submit(input: Input): Promise<Output>;
}

export interface BatcherOptions<Input, Output> {
  /** The label of metrics. */
  readonly name: string;
  /** Runs one set-based statement for all inputs, without retries; returns one output for each, in their order. */
  readonly execute: (inputs: readonly Input[]) => Promise<readonly Output[]>;
  readonly maxBatchSize: number;
  /** The share of a batch that an input uses; a larger input is sent alone. Default: 1. */
  readonly sizeOf?: (input: Input) => number;
  /**
   * When this much waits, a second batch starts beside the running one, so that the database works while the other is
   * built and answered. Smaller batches cost more than they save. Default: there is never a second one.
   */
  readonly overlapFrom?: number;
  /** Calls that may wait; the next one is rejected at once. Bounds memory and waiting time. */
  readonly maxQueueLength: number;
  readonly observer: BatchObserver;
  /** The row that an input waits for when another transaction has locked it. Default: each input has its own. */
  readonly rowOf?: (input: Input) => string;
  /**
   * Whether every other batch would fail with this error too, such as a lock that all need: then no call is retried,
   * and waiting calls fail with it. Default: never.
   */
  readonly isSharedFailure?: (error: unknown) => boolean;
  /** Whether an error means that the whole database does not respond. Default: determined by the error alone. */
  readonly isUnresponsive?: (error: unknown) => boolean | Promise<boolean>;
}

interface Call<Input, Output> {
  readonly input: Input;
  readonly size: number;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

/** Rows of a batch that met a locked row that are retried at the same time. */
const LOCK_RETRY_CONCURRENCY = 4;

/** Retry-After of a full queue, which is processed in less time. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Sends calls to the database in batches, one or two at a time: calls that arrive while batches run form the next one.
 * A single call waits for nothing, and under load one round trip and one commit serve hundreds.
 *
 * A caller sees only its own output or error; see {@link isolateFailures}. There are three exceptions. When the
 * database did not respond to a batch, the waiting calls fail with it, so that no call waits for longer than one batch.
 * When a batch timed out on a locked row, its calls are retried row by row, beside the next batch. When a batch failed
 * with a shared failure, all calls fail.
 */
export class Batcher<Input, Output> implements BatchQueue<Input, Output> {
  readonly #options: BatcherOptions<Input, Output>;
  #queue: Call<Input, Output>[] = [];
  /** The sum of the sizes in the queue. */
  #queuedSize = 0;
  #running = 0;

  constructor(options: BatcherOptions<Input, Output>) {
    this.#options = options;
    options.observer.setQueueDepth(options.name, () => this.#queue.length);
  }

  /**
   * Returns the output of one input once its batch is done and, for a change, committed.
   * @throws overloaded (503 with Retry-After) at once when the queue is full
   * @throws the error of this input
   */
  submit(input: Input): Promise<Output> {
    if (this.#queue.length >= this.#options.maxQueueLength) {
      return Promise.reject(overloaded(RETRY_AFTER_SECONDS));
    }
    return new Promise((resolve, reject) => {
      const size = this.#options.sizeOf?.(input) ?? 1;
      this.#queue.push({ input, size, resolve, reject });
      this.#queuedSize += size;
      if (this.#mayStart()) void this.#drain();
    });
  }

  /** Sends one batch, and starts the next one while calls wait. Never rejects: errors go to the callers. */
  async #drain(): Promise<void> {
    this.#running++;
    // Until the event loop has handled all calls that arrived together.
    await new Promise(setImmediate);
    if (this.#queue.length === 0) {
      this.#running--;
      return;
    }
    const batch = this.#takeBatch();
    const startedAt = performance.now();
    const results = await isolateFailures(
      batch.map((call) => call.input),
      this.#options.execute,
    );
    const seconds = (performance.now() - startedAt) / 1000;
    this.#options.observer.observeBatch(this.#options.name, batch.length, seconds);
    await this.#failWaiting(results);
    this.#running--;
    if (this.#mayStart()) {
      void this.#drain();
      // Sending the next batch first keeps the database busy while these answers are written.
      await new Promise(setImmediate);
    }
    this.#settleBatch(batch, results);
  }

  #mayStart(): boolean {
    const { overlapFrom = Infinity } = this.#options;
    if (this.#running === 0) return this.#queue.length > 0;
    return this.#running === 1 && this.#queuedSize >= overlapFrom;
  }

  #takeBatch(): Call<Input, Output>[] {
    const { maxBatchSize } = this.#options;
    if (this.#queuedSize <= maxBatchSize) return this.#takeAll();
    let size = 0;
    const end = this.#queue.findIndex((call) => (size += call.size) > maxBatchSize);
    const batch = this.#queue.splice(0, Math.max(1, end));
    this.#queuedSize -= batch.reduce((sum, call) => sum + call.size, 0);
    return batch;
  }

  #takeAll(): Call<Input, Output>[] {
    const batch = this.#queue;
    this.#queue = [];
    this.#queuedSize = 0;
    return batch;
  }

  #settleBatch(
    batch: readonly Call<Input, Output>[],
    results: readonly BatchResult<Output>[],
  ): void {
    const blocked: Call<Input, Output>[] = [];
    batch.forEach((call, index) => {
      const result = results[index];
      if (batch.length > 1 && this.#isBlocked(result)) blocked.push(call);
      else settle(call, result);
    });
    if (blocked.length > 0) void this.#retryRowByRow(blocked);
  }

  /**
   * Retries the calls row by row, so that only those that need the locked row wait for it again. Never rejects: errors
   * go to the callers.
   */
  async #retryRowByRow(calls: readonly Call<Input, Output>[]): Promise<void> {
    const { execute, rowOf } = this.#options;
    const rows = Map.groupBy(calls, (call) => rowOf?.(call.input) ?? call).values();
    const retryRows = async (): Promise<void> => {
      for (const row of rows) {
        const results = await isolateFailures(
          row.map((call) => call.input),
          execute,
        );
        row.forEach((call, index) => settle(call, results[index]));
      }
    };
    await Promise.all(Array.from({ length: LOCK_RETRY_CONCURRENCY }, retryRows));
  }

  #isBlocked(result: BatchResult<Output> | undefined): boolean {
    return (
      result?.ok === false && isLockTimeout(result.error) && !this.#isSharedFailure(result.error)
    );
  }

  #isSharedFailure(error: unknown): boolean {
    return this.#options.isSharedFailure?.(error) === true;
  }

  async #failWaiting(results: readonly BatchResult<Output>[]): Promise<void> {
    const { isUnresponsive = isDatabaseTimeout } = this.#options;
    const failure = results.find(
      (result) =>
        !result.ok && (isDatabaseTimeout(result.error) || this.#isSharedFailure(result.error)),
    );
    if (failure === undefined || failure.ok) return;
    const isShared = this.#isSharedFailure(failure.error) || (await isUnresponsive(failure.error));
    if (!isShared) return;
    for (const call of this.#takeAll()) call.reject(failure.error);
  }
}

function settle<Input, Output>(
  call: Call<Input, Output>,
  result: BatchResult<Output> | undefined,
): void {
  if (result === undefined) call.reject(new Error('the batch returned no result for a call'));
  else if (result.ok) call.resolve(result.output);
  else call.reject(result.error);
}
