import { setTimeout as sleep } from 'node:timers/promises';

import type { WorkerCounts } from '#server/features/health/dependencies.ts';
import type { Logger } from '#server/log.ts';

import { killWhenHung } from './kill-when-hung.ts';
import { describeEnd, type ProcessEnd, type WorkerProcess } from './worker-process.ts';

/** The delays before a replacement, by the number of workers that ended soon after their start; the last one repeats. */
const BACK_OFF_MS = [0, 500, 1_000, 2_000, 5_000, 10_000] as const;
const LONGEST_BACK_OFF_MS = 10_000;

/** A worker that ends earlier than this after its start counts as a failed start. */
const SETTLED_AFTER_MS = 10_000;

/** Failed starts in a row after which a service without any worker ends: systemd may start it again. */
const MAX_FAILED_STARTS = 6;

/** Between attempts to replace a worker that receives no connections, while no other one listens. */
const RETRY_MS = 500;

/** A stop or a retirement that takes longer ends with SIGKILL: 10 s for requests, then 10 s for background work. */
const STOP_DEADLINE_MS = 22_000;
const RETIRE_DEADLINE_MS = 40_000;

export interface SupervisorOptions {
  readonly count: number;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Starts a worker. @param number counts all workers from 1 */
  readonly launch: (number: number) => WorkerProcess;
  /** Called after a worker has ended. */
  readonly onEnd: (worker: WorkerProcess) => void;
}

type State = 'starting' | 'ready' | 'retiring';

/**
 * Keeps a number of workers running. A worker that ends is replaced, with a growing delay if it ended soon after its start.
 * One worker at a time leads: it runs jobs and housekeeping. When it ends, another one leads at once.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #states = new Map<WorkerProcess, State>();
  readonly #startedAt = new WeakMap<WorkerProcess, number>();
  readonly #stopping = new AbortController();
  readonly #gaveUp = Promise.withResolvers<void>();
  #leader: WorkerProcess | null = null;
  #started = 0;
  #failedStarts = 0;
  #replaces = false;
  #isRolling = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Resolves when no worker runs and none can be started. */
  get gaveUp(): Promise<void> {
    return this.#gaveUp.promise;
  }

  get counts(): WorkerCounts {
    return { running: this.ready.length, wanted: this.#options.count };
  }

  /** The workers that serve requests, the youngest last. */
  get ready(): readonly WorkerProcess[] {
    return this.#inState('ready');
  }

  /** All workers, also those that start or end. */
  get all(): readonly WorkerProcess[] {
    return [...this.#states.keys()];
  }

  get leader(): WorkerProcess | null {
    return this.#leader;
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

  /**
   * Replaces one worker after the other by a new one, which loads the program anew. A worker stops accepting connections
   * when its replacement listens, and ends when its clients have left it. If a new worker does not start, the others
   * continue to run.
   */
  async roll(): Promise<void> {
    const { log } = this.#options;
    if (this.#isRolling) {
      log.warn({ event: 'workers.rolling_restart_ignored' }, 'a rolling restart is in progress');
      return;
    }
    this.#isRolling = true;
    log.info({ event: 'workers.rolling_restart_started' }, 'replacing all workers');
    try {
      for (const worker of [...this.#inState('starting'), ...this.ready]) {
        // One that is starting may have loaded the previous version.
        await worker.ready.catch(() => undefined);
        if (this.#stopping.signal.aborted) return;
        if (!this.#states.has(worker)) continue;
        await this.#add();
        await this.#retire(worker);
      }
      log.info({ event: 'workers.rolling_restart_completed' }, 'replaced all workers');
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const message = 'could not start a new worker; the rolling restart ends here';
      log.error({ event: 'workers.rolling_restart_failed', err: error }, message);
    } finally {
      this.#isRolling = false;
    }
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
        if (this.#states.get(worker) === 'starting') worker.kill('SIGTERM');
        else worker.channel.notify('stop');
        return this.#endInTime(worker, STOP_DEADLINE_MS);
      }),
    );
  }

  /** Starts a worker and returns its URL when it listens. @throws EarlyEnd */
  async #add(): Promise<string> {
    const worker = this.#options.launch(++this.#started);
    this.#states.set(worker, 'starting');
    this.#startedAt.set(worker, performance.now());
    void worker.ended.then((end) => this.#onEnd(worker, end));
    void worker.lostConnection.then(() => this.#replaceIdle(worker));
    killWhenHung(worker, this.#options.log);
    const url = await worker.ready;
    this.#states.set(worker, 'ready');
    const fields = { event: 'worker.started', worker: worker.number, pid: worker.pid };
    this.#options.log.info(fields, 'worker started');
    this.#update();
    return url;
  }

  async #retire(worker: WorkerProcess): Promise<void> {
    if (!this.#states.has(worker)) return;
    this.#states.set(worker, 'retiring');
    this.#update();
    worker.channel.notify('retire');
    await this.#endInTime(worker, RETIRE_DEADLINE_MS);
  }

  async #endInTime(worker: WorkerProcess, deadlineMs: number): Promise<void> {
    const timer = setTimeout(() => {
      const fields = { event: 'worker.stop_timeout', worker: worker.number, pid: worker.pid };
      this.#options.log.error(fields, 'worker did not stop in time: killing it');
      worker.kill('SIGKILL');
    }, deadlineMs);
    await worker.ended;
    clearTimeout(timer);
  }

  #onEnd(worker: WorkerProcess, end: ProcessEnd): void {
    const state = this.#states.get(worker);
    this.#states.delete(worker);
    this.#options.onEnd(worker);
    if (this.#leader === worker) this.#leader = null;
    this.#update();
    if (!this.#replaces || state === 'retiring' || this.#stopping.signal.aborted) return;
    const fields = { event: 'worker.ended', worker: worker.number, pid: worker.pid };
    const message = 'a worker ended unexpectedly';
    this.#options.log.error({ ...fields, end: describeEnd(end) }, message);
    const lived = performance.now() - (this.#startedAt.get(worker) ?? 0);
    this.#failedStarts = lived < SETTLED_AFTER_MS ? this.#failedStarts + 1 : 0;
    void this.#replace();
  }

  /**
   * Replaces a worker that receives no connections any more. It keeps the port open until another one listens, and completes the
   * requests on the connections that it has.
   */
  async #replaceIdle(worker: WorkerProcess): Promise<void> {
    if (this.#states.get(worker) !== 'ready' || this.#stopping.signal.aborted) return;
    const fields = { event: 'worker.connection_lost', worker: worker.number, pid: worker.pid };
    const message = 'a worker could not take a connection, probably for lack of file descriptors';
    this.#options.log.error(fields, message);
    this.#states.set(worker, 'retiring');
    this.#update();
    await this.#replace();
    while (this.ready.length === 0 && this.#states.has(worker)) {
      await sleep(RETRY_MS);
      if (this.#stopping.signal.aborted) return;
      await this.#replace();
    }
    await this.#retire(worker);
  }

  async #replace(): Promise<void> {
    if (this.#failedStarts >= MAX_FAILED_STARTS && this.ready.length === 0) {
      this.#gaveUp.resolve();
      return;
    }
    try {
      const delayMs = BACK_OFF_MS[this.#failedStarts] ?? LONGEST_BACK_OFF_MS;
      await sleep(delayMs, undefined, { signal: this.#stopping.signal });
      // A rolling restart may have started one more already.
      if (this.all.length - this.#inState('retiring').length < this.#options.count) {
        await this.#add();
      }
    } catch {
      // The stop began, or the worker ended: `#onEnd` starts the next one.
    }
  }

  /** Appoints a leader when there is none or it retires, and reports the numbers to the workers. */
  #update(): void {
    if (this.#stopping.signal.aborted) return;
    const isLed = this.#leader !== null && this.#states.get(this.#leader) === 'ready';
    const successor = isLed ? undefined : this.ready.at(-1);
    if (successor !== undefined) {
      this.#leader = successor;
      const fields = { event: 'worker.leads', worker: successor.number };
      this.#options.log.info(fields, 'worker runs jobs and housekeeping');
      successor.channel.notify('lead');
    }
    this.notify('workers', this.counts);
  }

  #inState(state: State): readonly WorkerProcess[] {
    return this.all.filter((worker) => this.#states.get(worker) === state);
  }
}
