/** Where a client keeps its state. A function may throw: the client then goes on without it, and reports the problem. */
export interface Store {
  /** Returns the kept text; null if there is none. It throws if there may be one: nothing is written until it was read. */
  read(): string | null | Promise<string | null>;
  /** Replaces the text, as a whole or not at all. */
  write(text: string): void | Promise<void>;
  /** Keeps a damaged text for support, and out of the way. */
  setAside(): void | Promise<void>;
}

/** Keeps the state for this run only. */
export function memoryStore(): Store {
  let kept: string | null = null;
  return {
    read: () => kept,
    write(text) {
      kept = text;
    },
    setAside() {
      kept = null;
    },
  };
}

/** The part of `localStorage` that a store needs. */
export interface WebStorage {
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
  removeItem(name: string): void;
}

/** Keeps the state of a page in `localStorage`. @param name the item; another one for each program of an origin */
export function webStore(storage: WebStorage, name = 'latchkey'): Store {
  return {
    read: () => storage.getItem(name),
    write: (text) => storage.setItem(name, text),
    setAside() {
      storage.setItem(`${name}.damaged`, storage.getItem(name) ?? '');
      storage.removeItem(name);
    },
  };
}
