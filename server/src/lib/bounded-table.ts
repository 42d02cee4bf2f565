import { LRUCache } from 'lru-cache';

/** Limits memory; of each kind, the least recently used clients are evicted. */
const MAX_CLIENTS = 50_000;

/** Limits memory, twice the limits of this program: a newer worker may have more. */
const MAX_KINDS = 32;

/** Limits memory: about 150,000 clients with the usual names and values, and fewer with longer ones. */
const MAX_BYTES = 64 * 1_048_576;

/** What an entry takes beside its texts, rounded up. */
const ENTRY_BYTES = 256;

/** A character that is not of Latin-1 makes the whole text as large. */
const CHARACTER_BYTES = 2;

interface Sized {
  readonly length: number;
}

/**
 * Values by kind and client. Their number and their size are limited. What exceeds the size is evicted from the largest kind,
 * so that clients of one kind cannot evict those of another, smaller one.
 */
export class BoundedTable<Value extends Sized> {
  readonly #kinds = new Map<string, LRUCache<string, Value>>();
  #bytes = 0;

  get(kind: string, client: string): Value | null {
    return this.#kinds.get(kind)?.get(client) ?? null;
  }

  /** @param value null: none @throws {Error} when there are too many kinds */
  set(kind: string, client: string, value: Value | null): void {
    if (value === null) this.#change(this.#kinds.get(kind), (clients) => clients.delete(client));
    else this.#change(this.#openKind(kind), (clients) => clients.set(client, value));
    while (this.#bytes > MAX_BYTES) this.#change(this.#findLargest(), (clients) => clients.pop());
  }

  #openKind(kind: string): LRUCache<string, Value> {
    const existing = this.#kinds.get(kind);
    if (existing !== undefined) return existing;
    if (this.#kinds.size >= MAX_KINDS) throw new Error(`more than ${MAX_KINDS} kinds of counters`);
    // Without the option `max`, which allocates all entries at once.
    const clients = new LRUCache<string, Value>({ maxSize: MAX_BYTES, sizeCalculation: measure });
    this.#kinds.set(kind, clients);
    return clients;
  }

  #change(
    clients: LRUCache<string, Value> | undefined,
    change: (clients: LRUCache<string, Value>) => void,
  ): void {
    if (clients === undefined) return;
    const before = clients.calculatedSize;
    change(clients);
    if (clients.size > MAX_CLIENTS) clients.pop();
    this.#bytes += clients.calculatedSize - before;
  }

  #findLargest(): LRUCache<string, Value> | undefined {
    const [first, ...others] = this.#kinds.values();
    return others.reduce((one, other) => {
      return one === undefined || other.calculatedSize > one.calculatedSize ? other : one;
    }, first);
  }
}

function measure(value: Sized, client: string): number {
  return ENTRY_BYTES + CHARACTER_BYTES * (client.length + value.length);
}
