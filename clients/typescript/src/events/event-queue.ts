import { describeError } from '../answers/causes.ts';
import type { ReportProblem } from '../problem.ts';
import { parseEvent, type QueuedEvent } from './event.ts';
import type { EventStore } from './event-store.ts';

/** The limits of a queue. */
export const MAX_EVENTS = 5_000;
export const MAX_BYTES = 1_000_000;
export const MAX_AGE_MS = 30 * 86_400_000;

/** A full queue makes this much space at once, so that it is not written again for every event. */
const KEPT_WHEN_FULL = 0.9;

interface Entry {
  readonly event: QueuedEvent;
  readonly line: string;
  readonly bytes: number;
}

/** Events that wait for the service, the oldest first. */
export class EventQueue {
  readonly #store: EventStore;
  readonly #report: ReportProblem;
  #entries: Entry[] = [];
  #bytes = 0;
  #dropped = 0;
  /** `unread`: the store is not written before it was read. `obsolete`: it is replaced without reading it. */
  #stored: 'unread' | 'read' | 'obsolete' = 'unread';
  /** The ids of events that were removed, and that the store may still have. */
  readonly #removed = new Set<string>();
  /** The ids of the last batch, and whether the event was dropped since. */
  #batch = new Map<string, boolean>();

  constructor(store: EventStore, report: ReportProblem) {
    this.#store = store;
    this.#report = report;
  }

  /** How many events were dropped since opening, because the queue was full, or because they were too old or too large. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds an event; a full queue deletes the oldest ones. */
  add(event: QueuedEvent): void {
    this.#load();
    const entry = toEntry(event);
    this.#entries.push(entry);
    this.#bytes += entry.bytes;
    if (this.#entries.length > MAX_EVENTS || this.#bytes > MAX_BYTES) this.#makeSpace();
    else if (this.#stored === 'read') this.#try(() => this.#store.append(entry.line));
    else if (this.#stored === 'obsolete') this.#rewrite(this.#entries);
  }

  /** Drops events that are too old, and returns the oldest others of one session and one version. */
  nextBatch(limit: number, nowMs: number): readonly QueuedEvent[] {
    this.#load();
    this.#dropWhile(({ event }) => nowMs - Date.parse(event.at) > MAX_AGE_MS);
    const events = this.#entries.map(({ event }) => event);
    const [first] = events;
    if (first === undefined) return [];
    const end = events.findIndex(
      ({ session, app }) => session !== first.session || app !== first.app,
    );
    const batch = events.slice(0, Math.min(limit, end === -1 ? events.length : end));
    this.#batch = new Map(batch.map(({ id }) => [id, false]));
    return batch;
  }

  /** Removes events that the service has, and keeps what another process added since. */
  remove(events: readonly QueuedEvent[]): void {
    // Those that a full queue deleted while they were sent arrived all the same.
    this.#dropped -= events.filter(({ id }) => this.#batch.get(id)).length;
    for (const { id } of events) this.#removed.add(id);
    this.#rewrite(this.#entries.filter(({ event }) => !this.#removed.has(event.id)));
  }

  /** Removes an event that cannot be sent, and counts it. */
  drop(events: readonly QueuedEvent[]): void {
    this.#dropped += events.length;
    this.remove(events);
  }

  /** Removes all events, also those that could not be read. */
  clear(): void {
    this.#stored = 'obsolete';
    this.#rewrite([]);
  }

  /** Removes all events, also those that cannot be read, and writes nothing if there are none. */
  clearUnlessEmpty(): void {
    this.#load();
    if (this.#stored !== 'read' || this.#entries.length > 0) this.clear();
  }

  #makeSpace(): void {
    let count = this.#entries.length;
    let bytes = this.#bytes;
    this.#dropWhile((entry) => {
      const isFull = count > MAX_EVENTS * KEPT_WHEN_FULL || bytes > MAX_BYTES * KEPT_WHEN_FULL;
      count -= 1;
      bytes -= entry.bytes;
      return isFull;
    });
  }

  #dropWhile(mustGo: (entry: Entry) => boolean): void {
    const firstKept = this.#entries.findIndex((entry) => !mustGo(entry));
    const dropped = firstKept === -1 ? this.#entries : this.#entries.slice(0, firstKept);
    if (dropped.length === 0) return;
    this.#dropped += dropped.length;
    for (const { event } of dropped) {
      this.#removed.add(event.id);
      if (this.#batch.has(event.id)) this.#batch.set(event.id, true);
    }
    this.#rewrite(this.#entries.slice(dropped.length));
  }

  /** Reads what is stored, unless that was done. If it fails, events wait in memory, and the next call tries again. */
  #load(): void {
    if (this.#stored !== 'unread') return;
    if (this.#entries.length > 0) this.#rewrite(this.#entries);
    else this.#try(() => this.#readStore());
  }

  #set(entries: Entry[]): void {
    this.#entries = entries;
    this.#bytes = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Adds what is stored: before the first reading, it is older, and later what another process added. */
  #readStore(): void {
    const text = this.#store.read();
    const known = new Set(this.#entries.map(({ event }) => event.id));
    const others = text.split('\n').flatMap((line) => {
      const event = parseEvent(line);
      return event === null || known.has(event.id) || this.#removed.has(event.id)
        ? []
        : [toEntry(event)];
    });
    const isFirst = this.#stored === 'unread';
    this.#set(isFirst ? [...others, ...this.#entries] : [...this.#entries, ...others]);
    this.#stored = 'read';
    // A line that was cut would spoil the next one.
    if (text !== '' && !text.endsWith('\n')) this.#store.replace(join(this.#entries));
  }

  /** Replaces what is stored, unless it cannot be read: then the entries wait in memory. */
  #rewrite(entries: Entry[]): void {
    this.#set(entries);
    this.#try(() => {
      if (this.#stored !== 'obsolete') this.#readStore();
      this.#store.replace(join(this.#entries));
      this.#stored = 'read';
      this.#removed.clear();
    });
  }

  #try(work: () => void): void {
    try {
      work();
    } catch (error) {
      const message = `could not keep events: ${describeError(error)}`;
      this.#report({ code: 'events_unwritable', message });
    }
  }
}

function toEntry(event: QueuedEvent): Entry {
  const line = `${JSON.stringify(event)}\n`;
  return { event, line, bytes: new TextEncoder().encode(line).length };
}

function join(entries: readonly Entry[]): string {
  return entries.map(({ line }) => line).join('');
}
