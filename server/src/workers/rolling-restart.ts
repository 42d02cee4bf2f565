import type { Logger } from '#server/log.ts';

import type { WorkerProcess } from './worker-process.ts';

export interface RollingRestartOptions {
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Returns the workers that were started until now and are not being replaced. */
  readonly list: () => readonly WorkerProcess[];
  /** Starts a worker, and resolves when it listens. @throws EarlyEnd */
  readonly add: () => Promise<unknown>;
  /** Ends a worker, and resolves when it has ended. */
  readonly retire: (worker: WorkerProcess) => Promise<void>;
  readonly isStopping: () => boolean;
}

/** Replaces all workers, which load the program anew: one after the other, so that the others serve requests. */
export class RollingRestart {
  readonly #options: RollingRestartOptions;
  #isRunning = false;

  constructor(options: RollingRestartOptions) {
    this.#options = options;
  }

  /**
   * Replaces the workers, unless this is in progress. A worker stops accepting connections when its replacement listens, and
   * ends when its clients have left it. If a new worker does not start, the others continue to run.
   */
  async run(): Promise<void> {
    const { log, isStopping } = this.#options;
    if (this.#isRunning) {
      log.warn({ event: 'workers.rolling_restart_ignored' }, 'a rolling restart is in progress');
      return;
    }
    this.#isRunning = true;
    log.info({ event: 'workers.rolling_restart_started' }, 'replacing all workers');
    try {
      for (const worker of this.#options.list()) await this.#replace(worker);
      if (isStopping()) return;
      log.info({ event: 'workers.rolling_restart_completed' }, 'replaced all workers');
    } catch (error) {
      if (isStopping()) return;
      const message = 'could not start a new worker; the rolling restart ends here';
      log.error({ event: 'workers.rolling_restart_failed', err: error }, message);
    } finally {
      this.#isRunning = false;
    }
  }

  async #replace(worker: WorkerProcess): Promise<void> {
    const { add, isStopping, list, retire } = this.#options;
    // One that is starting may have loaded the previous version.
    await worker.ready.catch(() => undefined);
    if (isStopping() || !list().includes(worker)) return;
    await add();
    await retire(worker);
  }
}
