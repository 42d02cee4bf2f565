import { overloaded } from '#server/errors.ts';

import { isDatabaseTimeout, isLockTimeout } from '../database-errors.ts';
import { isolateFailures, type BatchResult } from './isolate-failures.ts';

/** What a batcher tells whoever measures it. */
export interface BatchObserver {
  /** Called after each batch with its size and the seconds it took. */
  observeBatch(name: string, size: number, seconds: number): void;
  /** Called once, with a way to read how many calls are waiting. */
  setQueueDepth(name: string, read: () => number): void;
}

/** Carries one call to the database, alone or together with others. */
export interface Carrier<Input, Output> {
  submit(input: Input): Promise<Output>;
}

export interface BatcherOptions<Input, Output> {
  /** Shows in metrics and logs. */
  readonly name: string;
  /** Runs one set-based statement for all inputs; gives one output for each, in their order. */
  readonly execute: (inputs: readonly Input[]) => Promise<readonly Output[]>;
  readonly maxBatchSize: number;
  /** How much of a batch an input takes up, where they differ; one that is larger than a batch travels alone. Default: 1. */
  readonly sizeOf?: (input: Input) => number;
  /**
   * Once this much waits, a second batch starts beside the one under way, so that the database works on one while the
   * other is made and answered. Less than that waits for the first to end: small batches cost more than they gain. Left
   * out, there is never a second one.
   */
  readonly overlapFrom?: number;
  /** Calls that may wait; the next one is refused at once. Bounds memory and waiting time. */
  readonly maxQueueLength: number;
  readonly observer: BatchObserver;
  /** The row that an input has to wait for if somebody else holds it. Default: each input has one of its own. */
  readonly rowOf?: (input: Input) => string;
  /**
   * Whether an error that the database answered a batch with would hit every other batch too, such as a lock that all of
   * them want: then no call is sent again, and those that wait fail with it. Default: none would.
   */
  readonly concernsAll?: (error: unknown) => boolean;
  /** Whether an error means that the whole database is silent. Default: judged by the error alone. */
  readonly isSilent?: (error: unknown) => boolean | Promise<boolean>;
}

interface Call<Input, Output> {
  readonly input: Input;
  readonly size: number;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

/** How many inputs of a batch that met a held row are sent again side by side. */
const LANES_BEHIND_A_LOCK = 4;

/** A full queue drains in much less, so a refused caller has good prospects after this. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Carries single calls to the database in batches, one or two at a time: the calls that arrive while batches are under
 * way make up the next one. So a lone call waits for nobody, and under load one round trip and one commit serve hundreds.
 *
 * A caller sees only its own output or error; see {@link isolateFailures}. There are three exceptions. When a batch waited
 * in vain for a silent database, those that queued behind it fail with it: nobody waits for longer than one batch may
 * take. When it waited in vain for a row that somebody holds, its calls are sent again row by row, and the next batch
 * does not wait for them. When it waited in vain for what every batch needs, all of them fail at once.
 */
export class Batcher<Input, Output> implements Carrier<Input, Output> {
  readonly #options: BatcherOptions<Input, Output>;
  #queue: Call<Input, Output>[] = [];
  /** The size of all that is in the queue. */
  #waiting = 0;
  #running = 0;

  constructor(options: BatcherOptions<Input, Output>) {
    this.#options = options;
    options.observer.setQueueDepth(options.name, () => this.#queue.length);
  }

  /**
   * Gives the output for one input once the batch that carried it is done (and, for a change, committed).
   * @throws overloaded (503 with Retry-After) at once when the queue is full
   * @throws what the statement throws for this very input
   */
  submit(input: Input): Promise<Output> {
    if (this.#queue.length >= this.#options.maxQueueLength) {
      return Promise.reject(overloaded(RETRY_AFTER_SECONDS));
    }
    return new Promise((resolve, reject) => {
      const size = this.#options.sizeOf?.(input) ?? 1;
      this.#queue.push({ input, size, resolve, reject });
      this.#waiting += size;
      if (this.#mayStart()) void this.#drain();
    });
  }

  /** Sends one batch, and starts the next one while calls wait. It never rejects: errors go to the callers. */
  async #drain(): Promise<void> {
    this.#running++;
    // The rest of this turn of the event loop, so that the calls that arrived together travel together.
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
      // Answers take longer to write than a batch to send: the database works meanwhile.
      await new Promise(setImmediate);
    }
    this.#settleBatch(batch, results);
  }

  #mayStart(): boolean {
    const { overlapFrom = Infinity } = this.#options;
    if (this.#running === 0) return this.#queue.length > 0;
    return this.#running === 1 && this.#waiting >= overlapFrom;
  }

  #takeBatch(): Call<Input, Output>[] {
    const { maxBatchSize } = this.#options;
    if (this.#waiting <= maxBatchSize) return this.#takeAll();
    let size = 0;
    const end = this.#queue.findIndex((call) => (size += call.size) > maxBatchSize);
    const batch = this.#queue.splice(0, Math.max(1, end));
    this.#waiting -= batch.reduce((sum, call) => sum + call.size, 0);
    return batch;
  }

  #takeAll(): Call<Input, Output>[] {
    const batch = this.#queue;
    this.#queue = [];
    this.#waiting = 0;
    return batch;
  }

  #settleBatch(
    batch: readonly Call<Input, Output>[],
    results: readonly BatchResult<Output>[],
  ): void {
    const held: Call<Input, Output>[] = [];
    batch.forEach((call, index) => {
      const result = results[index];
      if (batch.length > 1 && this.#isHeldUp(result)) held.push(call);
      else settle(call, result);
    });
    if (held.length > 0) void this.#runRowByRow(held);
  }

  /** Only those that want the held row wait for it once more. It never rejects: errors go to the callers. */
  async #runRowByRow(calls: readonly Call<Input, Output>[]): Promise<void> {
    const { execute, rowOf } = this.#options;
    const rows = Map.groupBy(calls, (call) => rowOf?.(call.input) ?? call).values();
    const runLane = async (): Promise<void> => {
      for (const row of rows) {
        const results = await isolateFailures(
          row.map((call) => call.input),
          execute,
        );
        row.forEach((call, index) => settle(call, results[index]));
      }
    };
    await Promise.all(Array.from({ length: LANES_BEHIND_A_LOCK }, runLane));
  }

  #isHeldUp(result: BatchResult<Output> | undefined): boolean {
    return result?.ok === false && isLockTimeout(result.error) && !this.#concernsAll(result.error);
  }

  #concernsAll(error: unknown): boolean {
    return this.#options.concernsAll?.(error) === true;
  }

  async #failWaiting(results: readonly BatchResult<Output>[]): Promise<void> {
    const { isSilent = isDatabaseTimeout } = this.#options;
    const failure = results.find(
      (result) =>
        !result.ok && (isDatabaseTimeout(result.error) || this.#concernsAll(result.error)),
    );
    if (failure === undefined || failure.ok) return;
    const isShared = this.#concernsAll(failure.error) || (await isSilent(failure.error));
    if (!isShared) return;
    for (const call of this.#takeAll()) call.reject(failure.error);
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
