import { BoundedTable } from './bounded-table.ts';

/** What a limit counted for one client, as numbers whose meaning the limit defines. */
export type CounterState = readonly number[];

/** The outcome of a change of a state. */
export interface CounterChange<Result> {
  readonly state: CounterState;
  /** How long the state has a meaning; it may be dropped then. */
  readonly keepMs: number;
  readonly result: Result;
}

/** Computes a new state from the present one, which is null for an unknown client. Pure: it may be called several times. */
export type ChangeCounter<Result> = (state: CounterState | null) => CounterChange<Result>;

/**
 * The counters of limits, by kind (the name of the limit) and client. Of one process, or shared with others: the changes of a
 * counter are executed one after the other, also those of several processes.
 */
export interface Counters {
  read(kind: string, client: string): Promise<CounterState | null>;
  update<Result>(kind: string, client: string, change: ChangeCounter<Result>): Promise<Result>;
}

/** Counts in this process alone. */
export class LocalCounters implements Counters {
  readonly #states = new BoundedTable<CounterState>();

  async read(kind: string, client: string): Promise<CounterState | null> {
    return this.#states.get(kind, client);
  }

  async update<Result>(
    kind: string,
    client: string,
    change: ChangeCounter<Result>,
  ): Promise<Result> {
    const { state, result } = change(this.#states.get(kind, client));
    this.#states.set(kind, client, state);
    return result;
  }
}
