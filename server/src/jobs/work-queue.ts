import {
  TaskRunner,
  type Runner,
  type RunnerDependencies,
  type TaskIdentity,
} from './background-task.ts';

/** Rows of a table that are due at some time, each processed by the one process that holds its lease. */
export interface WorkQueue<Item> extends TaskIdentity {
  readonly pollIntervalMs?: number;
  /**
   * Takes a lease on due items and returns them. Uses `for update skip locked`, so that processes do not wait for each other;
   * an expired lease makes an item due again.
   * @param inProgress what this process is processing
   */
  readonly claim: (inProgress: ReadonlySet<Item>) => Promise<readonly Item[]>;
  /** Processes an item and stores the outcome; never throws. @param signal aborts some seconds after the stop began */
  readonly process: (item: Item, signal: AbortSignal) => Promise<void>;
  /** Whether to claim more at once, after an item was processed. Default: always. */
  readonly shouldClaimMore?: (item: Item, inProgress: ReadonlySet<Item>) => boolean;
}

const POLL_INTERVAL_MS = 1_000;

/** Items in progress may finish for this long at a stop before they are aborted. */
const STOP_GRACE_MS = 5_000;

/**
 * Processes a queue until it is stopped, alongside other processes. It polls, because notifications of PostgreSQL do not
 * pass a pooler in transaction mode.
 */
export class QueueRunner<Item> implements Runner {
  readonly #queue: WorkQueue<Item>;
  readonly #poll: TaskRunner;
  readonly #inProgress = new Map<Item, Promise<void>>();
  readonly #aborting = new AbortController();
  #isStopping = false;

  constructor(queue: WorkQueue<Item>, deps: RunnerDependencies) {
    const { name, event, action, pollIntervalMs: intervalMs = POLL_INTERVAL_MS } = queue;
    this.#queue = queue;
    const run = () => this.#claim();
    this.#poll = new TaskRunner({ name, event, action, scope: 'process', intervalMs, run }, deps);
  }

  start(): void {
    this.#poll.start();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#poll.stop();
    const finished = Promise.all(this.#inProgress.values());
    const timer = setTimeout(() => this.#aborting.abort(), STOP_GRACE_MS);
    await finished;
    clearTimeout(timer);
  }

  async #claim(): Promise<void> {
    const items = await this.#queue.claim(this.#itemsInProgress());
    for (const item of items) this.#inProgress.set(item, this.#process(item));
  }

  async #process(item: Item): Promise<void> {
    const { process, shouldClaimMore = () => true } = this.#queue;
    await process(item, this.#aborting.signal);
    this.#inProgress.delete(item);
    if (!this.#isStopping && shouldClaimMore(item, this.#itemsInProgress())) this.#poll.runNow();
  }

  #itemsInProgress(): ReadonlySet<Item> {
    return new Set(this.#inProgress.keys());
  }
}
