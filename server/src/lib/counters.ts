import { createBoundedCache } from './bounded-cache.ts';

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

/** Limits memory; of each kind, the least recently used clients are evicted. */
const MAX_CLIENTS = 50_000;

/** Limits memory, twice the limits of this program: a newer worker may have more. */
const MAX_KINDS = 32;

type BoundedCache<Value extends {}> = ReturnType<typeof createBoundedCache<Value>>;

/** Values by kind and client, a limited number of each kind. */
export class BoundedTable<Value extends {}> {
  readonly #kinds = new Map<string, BoundedCache<Value>>();

  get(kind: string, client: string): Value | null {
    return this.#kinds.get(kind)?.get(client) ?? null;
  }

  /** @param value null: none @throws {Error} when there are too many kinds */
  set(kind: string, client: string, value: Value | null): void {
    if (value === null) {
      this.#kinds.get(kind)?.delete(client);
      return;
    }
    this.#openKind(kind).set(client, value);
  }

  #openKind(kind: string): BoundedCache<Value> {
    const existing = this.#kinds.get(kind);
    if (existing !== undefined) return existing;
    if (this.#kinds.size >= MAX_KINDS) throw new Error(`more than ${MAX_KINDS} kinds of counters`);
    const clients = createBoundedCache<Value>(MAX_CLIENTS);
    this.#kinds.set(kind, clients);
    return clients;
  }
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
