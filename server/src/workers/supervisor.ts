import { setTimeout as sleep } from 'node:timers/promises';

import type { WorkerCounts } from '#server/features/health/dependencies.ts';
import type { Logger } from '#server/log.ts';

import { FailedStarts } from './failed-starts.ts';
import { killWhenHung } from './kill-when-hung.ts';
import { Leadership } from './leadership.ts';
import { RollingRestart } from './rolling-restart.ts';
import { endRetired, endStopped, limitStart } from './worker-deadlines.ts';
import { describeEnd, type ProcessEnd, type WorkerProcess } from './worker-process.ts';
import { WorkerRoster } from './worker-roster.ts';

/** Between attempts to replace a worker that receives no connections, while no other one listens. */
const RETRY_MS = 500;

export interface SupervisorOptions {
  readonly count: number;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Starts a worker. @param number counts all workers from 1 */
  readonly launch: (number: number) => WorkerProcess;
  /** Called after a worker has ended. */
  readonly onEnd: (worker: WorkerProcess) => void;
}

/**
 * Keeps a number of workers running. A worker that ends is replaced, with a growing delay if it ended soon after its start.
 * One worker at a time leads: it runs jobs and housekeeping. When it ends, another one leads at once.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #roster = new WorkerRoster();
  readonly #failedStarts = new FailedStarts();
  readonly #leadership: Leadership;
  readonly #rollingRestart: RollingRestart;
  readonly #stopping = new AbortController();
  readonly #failed = Promise.withResolvers<void>();
  #started = 0;
  #replaces = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#leadership = new Leadership(options.log);
    this.#rollingRestart = new RollingRestart({
      log: options.log,
      list: () => [...this.#roster.list('starting'), ...this.ready],
      add: () => this.#add(),
      retire: (worker) => this.#retire(worker),
      isStopping: () => this.#stopping.signal.aborted,
    });
  }

  /** Resolves when no worker runs and none can be started. */
  get failed(): Promise<void> {
    return this.#failed.promise;
  }

  get counts(): WorkerCounts {
    return { running: this.ready.length, wanted: this.#options.count };
  }

  /** The workers that serve requests, the youngest last. */
  get ready(): readonly WorkerProcess[] {
    return this.#roster.list('ready');
  }

  /** All workers, also those that start or end. */
  get all(): readonly WorkerProcess[] {
    return this.#roster.all;
  }

  get leader(): WorkerProcess | null {
    return this.#leadership.leader;
  }

  /**
   * Starts the first worker, which migrates the database, and returns the service's URL when it serves requests. The others
   * are forked by then, and become ready later; one that ends at its start is replaced like any other.
   * @throws EarlyEnd when the first one ends before it listens; none runs then
   */
  async start(): Promise<string> {
    const url = await this.#startFirst();
    this.#replaces = true;
    for (let others = 1; others < this.#options.count; others++) {
      // `#onEnd` replaces it.
      this.#add().catch(() => undefined);
    }
    return url;
  }

  async #startFirst(): Promise<string> {
    try {
      return await this.#add();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Replaces all workers, one after the other; see {@link RollingRestart.run}. */
  roll(): Promise<void> {
    return this.#rollingRestart.run();
  }

  /** Sends a notice to every worker that serves requests. */
  notify(kind: string, payload: unknown = null): void {
    for (const { channel } of this.ready) channel.notify(kind, payload);
  }

  /** Ends all workers: they complete requests and jobs in progress. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(
      this.all.map((worker) => {
        if (this.#roster.stateOf(worker) === 'starting') worker.kill('SIGTERM');
        else worker.channel.notify('stop');
        return endStopped(worker, this.#options.log);
      }),
    );
  }

  /** Starts a worker and returns its URL when it listens. @throws EarlyEnd */
  async #add(): Promise<string> {
    const { launch, log } = this.#options;
    const worker = launch(++this.#started);
    this.#roster.add(worker);
    void worker.ended.then((end) => this.#onEnd(worker, end));
    void worker.lostConnection.then(() => this.#replaceIdle(worker));
    killWhenHung(worker, log);
    limitStart(worker, log);
    const url = await worker.ready;
    this.#roster.setState(worker, 'ready');
    const fields = { event: 'worker.started', worker: worker.number, pid: worker.pid };
    log.info(fields, 'worker started');
    this.#update();
    return url;
  }

  async #retire(worker: WorkerProcess): Promise<void> {
    if (this.#roster.stateOf(worker) === null) return;
    this.#roster.setState(worker, 'retiring');
    this.#update();
    worker.channel.notify('retire');
    await endRetired(worker, this.#options.log);
  }

  #onEnd(worker: WorkerProcess, end: ProcessEnd): void {
    const { state, ranMs } = this.#roster.remove(worker);
    this.#options.onEnd(worker);
    this.#leadership.remove(worker);
    this.#update();
    if (!this.#replaces || state === 'retiring' || this.#stopping.signal.aborted) return;
    const fields = { event: 'worker.ended', worker: worker.number, pid: worker.pid };
    const message = 'a worker ended unexpectedly';
    this.#options.log.error({ ...fields, end: describeEnd(end) }, message);
    this.#failedStarts.recordEnd(state, ranMs);
    void this.#replace();
  }

  /**
   * Replaces a worker that receives no connections any more. It keeps the port open until another one listens, and completes the
   * requests on the connections that it has.
   */
  async #replaceIdle(worker: WorkerProcess): Promise<void> {
    if (this.#roster.stateOf(worker) !== 'ready' || this.#stopping.signal.aborted) return;
    const fields = { event: 'worker.connection_lost', worker: worker.number, pid: worker.pid };
    const message = 'a worker could not take a connection, probably for lack of file descriptors';
    this.#options.log.error(fields, message);
    this.#roster.setState(worker, 'retiring');
    this.#update();
    await this.#replace();
    while (this.ready.length === 0 && this.#roster.stateOf(worker) !== null) {
      await sleep(RETRY_MS);
      if (this.#stopping.signal.aborted) return;
      await this.#replace();
    }
    await this.#retire(worker);
  }

  async #replace(): Promise<void> {
    if (this.#failedStarts.areTooMany && this.ready.length === 0) {
      this.#failed.resolve();
      return;
    }
    try {
      await sleep(this.#failedStarts.delayMs, undefined, { signal: this.#stopping.signal });
      // A rolling restart may have started one more already.
      if (this.all.length - this.#roster.list('retiring').length < this.#options.count) {
        await this.#add();
      }
    } catch {
      // The stop began, or the worker ended: `#onEnd` starts the next one.
    }
  }

  /** Appoints a leader if there is none, and reports the numbers to the workers. */
  #update(): void {
    if (this.#stopping.signal.aborted) return;
    this.#leadership.appoint(this.ready);
    this.notify('workers', this.counts);
  }
}
