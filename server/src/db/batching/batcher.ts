import { overloaded } from '#server/errors.ts';

import { isDatabaseSilence } from '../database-errors.ts';
import { isolateFailures, type BatchResult } from './isolate-failures.ts';

/** What a batcher tells whoever measures it. */
export interface BatchObserver {
  /** Called after each batch with its size and the seconds it took. */
  observeBatch(name: string, size: number, seconds: number): void;
  /** Called once, with a way to read how many calls are waiting. */
  setQueueDepth(name: string, read: () => number): void;
}

/** Carries one call to the database, alone or in company. */
export interface Carrier<Input, Output> {
  submit(input: Input): Promise<Output>;
}

export interface BatcherOptions<Input, Output> {
  /** Shows in metrics and logs. */
  readonly name: string;
  /** Runs one set-based statement for all inputs; gives one output for each, in their order. */
  readonly execute: (inputs: readonly Input[]) => Promise<readonly Output[]>;
  readonly maxBatchSize: number;
  /** Batches under way together; default 1. With 2, the database works on one while the next one is made. */
  readonly maxConcurrent?: number;
  /** Calls that may wait; the next one is refused at once. Bounds memory and waiting time. */
  readonly maxQueueLength: number;
  readonly observer: BatchObserver;
}

interface Call<Input, Output> {
  readonly input: Input;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

/** Seconds after which a refused caller may well be lucky: a full queue drains in much less. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Carries single calls to the database in batches, few at a time: the calls that arrive while batches are under way
 * make up the next one. So a lone call waits for nobody, and under load one round trip and one commit serve hundreds.
 *
 * A caller sees only its own output or error; see {@link isolateFailures}. But when a batch waited in vain for a database
 * that says nothing, those that queued behind it fail with it: nobody waits for longer than one batch may take.
 */
export class Batcher<Input, Output> implements Carrier<Input, Output> {
  readonly #options: BatcherOptions<Input, Output>;
  #queue: Call<Input, Output>[] = [];
  #running = 0;

  constructor(options: BatcherOptions<Input, Output>) {
    this.#options = options;
    options.observer.setQueueDepth(options.name, () => this.#queue.length);
  }

  /**
   * Gives the output for one input, after the batch that carried it is done (and, for a change, committed).
   * @throws overloaded (503 with Retry-After) at once when the queue is full
   * @throws what the statement throws for this very input
   */
  submit(input: Input): Promise<Output> {
    if (this.#queue.length >= this.#options.maxQueueLength) {
      return Promise.reject(overloaded(RETRY_AFTER_SECONDS));
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ input, resolve, reject });
      if (this.#running < (this.#options.maxConcurrent ?? 1)) void this.#drain();
    });
  }

  /** Sends batches until nobody waits. Rejects nobody but its callers, so that it can be left alone. */
  async #drain(): Promise<void> {
    this.#running++;
    // One turn of the event loop, so that the calls that arrived together travel together.
    await new Promise(setImmediate);
    while (this.#queue.length > 0) await this.#runBatch(this.#takeBatch());
    this.#running--;
  }

  #takeBatch(): Call<Input, Output>[] {
    const { maxBatchSize } = this.#options;
    if (this.#queue.length > maxBatchSize) return this.#queue.splice(0, maxBatchSize);
    const batch = this.#queue;
    this.#queue = [];
    return batch;
  }

  async #runBatch(batch: readonly Call<Input, Output>[]): Promise<void> {
    const startedAt = performance.now();
    const results = await isolateFailures(
      batch.map((call) => call.input),
      this.#options.execute,
    );
    batch.forEach((call, index) => settle(call, results[index]));
    this.#failWaitingAfterSilence(results);
    const seconds = (performance.now() - startedAt) / 1000;
    this.#options.observer.observeBatch(this.#options.name, batch.length, seconds);
  }

  #failWaitingAfterSilence(results: readonly BatchResult<Output>[]): void {
    const silence = results.find((result) => !result.ok && isDatabaseSilence(result.error));
    if (silence === undefined || silence.ok) return;
    for (const call of this.#queue.splice(0)) call.reject(silence.error);
  }
}

function settle<Input, Output>(
  call: Call<Input, Output>,
  result: BatchResult<Output> | undefined,
): void {
  if (result === undefined) call.reject(new Error('the batch gave no result for a call'));
  else if (result.ok) call.resolve(result.output);
  else call.reject(result.error);
}
