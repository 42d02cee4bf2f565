import type { WorkerProcess } from './worker-process.ts';

export type WorkerState = 'starting' | 'ready' | 'retiring';

interface Entry {
  readonly startedAt: number;
  readonly state: WorkerState;
}

/** The workers whose processes run, by age, and the state of each. */
export class WorkerRoster {
  readonly #entries = new Map<WorkerProcess, Entry>();

  /** All workers, also those that start or end. */
  get all(): readonly WorkerProcess[] {
    return [...this.#entries.keys()];
  }

  /** Adds a worker that starts now. */
  add(worker: WorkerProcess): void {
    this.#entries.set(worker, { startedAt: performance.now(), state: 'starting' });
  }

  /** Changes the state of a worker, unless it has ended. */
  setState(worker: WorkerProcess, state: WorkerState): void {
    const entry = this.#entries.get(worker);
    if (entry !== undefined) this.#entries.set(worker, { ...entry, state });
  }

  /** Returns the state of a worker; null: it has ended. */
  stateOf(worker: WorkerProcess): WorkerState | null {
    return this.#entries.get(worker)?.state ?? null;
  }

  list(state: WorkerState): readonly WorkerProcess[] {
    return this.all.filter((worker) => this.stateOf(worker) === state);
  }

  /** Removes a worker that ended, and returns its last state and how long it ran. */
  remove(worker: WorkerProcess): { readonly state: WorkerState | null; readonly ranMs: number } {
    const entry = this.#entries.get(worker);
    this.#entries.delete(worker);
    return { state: entry?.state ?? null, ranMs: performance.now() - (entry?.startedAt ?? 0) };
  }
}
