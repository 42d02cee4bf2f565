/** A cache of resources by their path: one request for all users of a path, kept fresh while it is shown. */
import { signal, type ReadonlySignal, type Signal } from '@preact/signals';

/** The state of a resource. */
export interface ResourceState {
  /** The last answer; undefined before the first. It stays during a reload and after a failed one. */
  readonly data: unknown;
  readonly error: unknown;
  readonly isLoading: boolean;
}

interface Entry {
  readonly state: Signal<ResourceState>;
  users: number;
  pollUsers: number;
  /** 0: must be loaded again. */
  loadedAtMs: number;
  loading: Promise<void> | null;
  /** Increased by each invalidation, so that an answer to an earlier request is not taken as current. */
  generation: number;
}

/** Parts of the outside world. */
export interface CacheDependencies {
  readonly load: (path: string) => Promise<unknown>;
  readonly nowMs: () => number;
}

const EMPTY: ResourceState = { data: undefined, error: undefined, isLoading: false };

/** Data that is older is loaded again when the window gets the focus; the period of polls. */
export const FRESH_MS = 10_000;

/** Entries without users that are kept, so that going back shows the previous page at once. */
const MAX_UNUSED = 60;

export class ResourceCache {
  readonly #entries = new Map<string, Entry>();
  readonly #deps: CacheDependencies;

  constructor(deps: CacheDependencies) {
    this.#deps = deps;
  }

  /** Returns the state of a path, without loading it. */
  read(path: string): ReadonlySignal<ResourceState> {
    return this.#entry(path).state;
  }

  /**
   * Keeps a path loaded and fresh until the returned function is called.
   * @param polls whether {@link poll} also loads it
   */
  use(path: string, polls: boolean): () => void {
    const entry = this.#entry(path);
    entry.users += 1;
    if (polls) entry.pollUsers += 1;
    if (!this.#isFresh(entry)) void this.#load(path, entry);
    return () => {
      entry.users -= 1;
      if (polls) entry.pollUsers -= 1;
      this.#dropUnused();
    };
  }

  /** Loads a path again now. */
  async reload(path: string): Promise<void> {
    const entry = this.#entry(path);
    entry.generation += 1;
    entry.loading = null;
    await this.#load(path, entry);
  }

  /**
   * Marks every path that begins with a prefix as changed: those in use are loaded again, the others at their next use.
   * Resolves when the loads have ended.
   */
  async invalidate(prefix: string): Promise<void> {
    const loads: Promise<void>[] = [];
    for (const [path, entry] of this.#entries) {
      if (!path.startsWith(prefix)) continue;
      entry.loadedAtMs = 0;
      entry.generation += 1;
      entry.loading = null;
      if (entry.users > 0) loads.push(this.#load(path, entry));
    }
    await Promise.all(loads);
  }

  /** Loads what is shown and old again: after the focus returned, and after the service was unreachable. */
  refresh(): void {
    for (const [path, entry] of this.#entries) {
      if (entry.users > 0 && !this.#isFresh(entry)) void this.#load(path, entry);
    }
  }

  /** Loads one path that is polled, each in its turn, so that a page with several sends no more requests than one with one. */
  poll(): void {
    const oldestFirst = [...this.#entries]
      .filter(([, { loading, pollUsers }]) => pollUsers > 0 && loading === null)
      .sort(([, a], [, b]) => a.loadedAtMs - b.loadedAtMs);
    const [next] = oldestFirst;
    if (next !== undefined && !this.#isNew(next[1])) void this.#load(...next);
  }

  /** Forgets everything: another operator may sign in. */
  clear(): void {
    for (const entry of this.#entries.values()) {
      entry.generation += 1;
      entry.loading = null;
      entry.loadedAtMs = 0;
      entry.state.value = EMPTY;
    }
    this.#dropUnused(0);
  }

  #entry(path: string): Entry {
    const found = this.#entries.get(path);
    if (found !== undefined) return found;
    const entry: Entry = {
      state: signal(EMPTY),
      users: 0,
      pollUsers: 0,
      loadedAtMs: 0,
      loading: null,
      generation: 0,
    };
    this.#entries.set(path, entry);
    return entry;
  }

  #isFresh(entry: Entry): boolean {
    return entry.loadedAtMs > 0 && this.#deps.nowMs() - entry.loadedAtMs < FRESH_MS;
  }

  /** Whether a poll has no need to load it. An answer takes some time, so a polled path is a little younger than a poll's period. */
  #isNew({ loadedAtMs }: Entry): boolean {
    return loadedAtMs > 0 && this.#deps.nowMs() - loadedAtMs < FRESH_MS / 2;
  }

  #load(path: string, entry: Entry): Promise<void> {
    entry.loading ??= this.#fetch(path, entry);
    return entry.loading;
  }

  async #fetch(path: string, entry: Entry): Promise<void> {
    const { generation } = entry;
    entry.state.value = { ...entry.state.peek(), isLoading: true };
    const next = await this.#deps.load(path).then(
      (data): ResourceState => ({ data, error: undefined, isLoading: false }),
      (error: unknown): ResourceState => ({ ...entry.state.peek(), error, isLoading: false }),
    );
    if (generation !== entry.generation) return;
    entry.loading = null;
    // A failed load counts too, so that a failing service is not asked more often than a working one.
    entry.loadedAtMs = this.#deps.nowMs();
    entry.state.value = next;
  }

  /** Removes the entries without users that were created first. */
  #dropUnused(kept = MAX_UNUSED): void {
    const unused = [...this.#entries].filter(([, { users }]) => users === 0);
    for (const [path] of unused.slice(0, Math.max(0, unused.length - kept))) {
      this.#entries.delete(path);
    }
  }
}
