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
  #entries: Entry[] | null = null;
  #bytes = 0;
  #dropped = 0;
  /** Whether the store has every entry. */
  #isStored = true;

  constructor(store: EventStore, report: ReportProblem) {
    this.#store = store;
    this.#report = report;
  }

  /** How many events were dropped since opening, because the queue was full, or because they were too old or too large. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds an event; the oldest ones make way. */
  add(event: QueuedEvent): void {
    const entries = this.#load();
    const entry = toEntry(event);
    entries.push(entry);
    this.#bytes += entry.bytes;
    if (entries.length > MAX_EVENTS || this.#bytes > MAX_BYTES) this.#makeSpace();
    else this.#try(() => this.#store.append(entry.line));
  }

  /** Drops events that are too old, and returns the oldest others of one session and one version. */
  nextBatch(limit: number, nowMs: number): readonly QueuedEvent[] {
    this.#dropWhile(({ event }) => nowMs - Date.parse(event.at) > MAX_AGE_MS);
    const events = this.#load().map(({ event }) => event);
    const [first] = events;
    if (first === undefined) return [];
    const end = events.findIndex(
      ({ session, app }) => session !== first.session || app !== first.app,
    );
    return events.slice(0, Math.min(limit, end === -1 ? events.length : end));
  }

  /** Removes events that the service has, and keeps what another process added since. */
  remove(events: readonly QueuedEvent[]): void {
    const ids = new Set(events.map(({ id }) => id));
    const entries = (this.#isStored ? this.#read() : null) ?? this.#load();
    this.#rewrite(entries.filter(({ event }) => !ids.has(event.id)));
  }

  /** Removes an event that cannot be sent, and counts it. */
  drop(events: readonly QueuedEvent[]): void {
    this.#dropped += events.length;
    this.remove(events);
  }

  /** Removes all events. */
  clear(): void {
    this.#rewrite([]);
  }

  #makeSpace(): void {
    let count = this.#load().length;
    let bytes = this.#bytes;
    this.#dropWhile((entry) => {
      const isFull = count > MAX_EVENTS * KEPT_WHEN_FULL || bytes > MAX_BYTES * KEPT_WHEN_FULL;
      count -= 1;
      bytes -= entry.bytes;
      return isFull;
    });
  }

  #dropWhile(mustGo: (entry: Entry) => boolean): void {
    const entries = this.#load();
    let gone = 0;
    for (const entry of entries) {
      if (!mustGo(entry)) break;
      gone += 1;
    }
    if (gone === 0) return;
    this.#dropped += gone;
    this.#rewrite(entries.slice(gone));
  }

  #load(): Entry[] {
    if (this.#entries !== null) return this.#entries;
    this.#set(this.#read() ?? []);
    return this.#entries ?? [];
  }

  #set(entries: Entry[]): void {
    this.#entries = entries;
    this.#bytes = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Returns what is stored; null if that cannot be read. */
  #read(): Entry[] | null {
    return this.#try(() => {
      const text = this.#store.read();
      const entries = text.split('\n').flatMap((line) => {
        const event = parseEvent(line);
        return event === null ? [] : [toEntry(event)];
      });
      // A line that was cut would spoil the next one.
      if (text !== '' && !text.endsWith('\n')) this.#store.replace(join(entries));
      return entries;
    });
  }

  #rewrite(entries: Entry[]): void {
    this.#set(entries);
    this.#try(() => {
      this.#store.replace(join(entries));
      this.#isStored = true;
    });
  }

  #try<Outcome>(work: () => Outcome): Outcome | null {
    try {
      return work();
    } catch (error) {
      this.#isStored = false;
      const message = `could not keep events: ${describeError(error)}`;
      this.#report({ code: 'events_unwritable', message });
      return null;
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
