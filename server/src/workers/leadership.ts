import type { Logger } from '#server/log.ts';

import type { WorkerProcess } from './worker-process.ts';

/** Which worker runs jobs and housekeeping. */
export class Leadership {
  readonly #log: Pick<Logger, 'info'>;
  #leader: WorkerProcess | null = null;

  constructor(log: Pick<Logger, 'info'>) {
    this.#log = log;
  }

  get leader(): WorkerProcess | null {
    return this.#leader;
  }

  /** Forgets the leader if it is a worker that has ended. */
  remove(worker: WorkerProcess): void {
    if (this.#leader === worker) this.#leader = null;
  }

  /** Appoints the youngest worker if no leader serves requests: the next rolling restart replaces it last. */
  appoint(ready: readonly WorkerProcess[]): void {
    const successor = ready.at(-1);
    if (successor === undefined || (this.#leader !== null && ready.includes(this.#leader))) return;
    this.#leader = successor;
    const fields = { event: 'worker.leads', worker: successor.number };
    this.#log.info(fields, 'worker runs jobs and housekeeping');
    successor.channel.notify('lead');
  }
}
