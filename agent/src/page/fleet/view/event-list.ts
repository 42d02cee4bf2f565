import { fillChildren, make } from '../../browser/dom.ts';
import { formatTime } from '../../browser/format.ts';
import type { FleetEvent } from '../core/types.ts';
import { LiveText, makeWith } from './elements.ts';
import { describeEvent, listNewer, summarizeEvents } from './events.ts';

const SHOWN_EVENTS = 50;

/** Events of so many milliseconds are announced together. */
const ANNOUNCE_MS = 4000;

/** What changed since the page was opened, newest first, and its announcements for screen readers. */
export class EventList {
  readonly element: HTMLElement;
  /** A polite live region. It changes only when something happened, and then at most every four seconds. */
  readonly announcer = makeWith('p.fleet-unseen', { role: 'status' });
  readonly #list = make('ol.fleet-events');
  readonly #rows: EventRow[] = [];
  readonly #origin: string;
  #events: readonly FleetEvent[];
  #seen: FleetEvent | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param events that happened before; they are not announced */
  constructor(title: string, origin: string, events: readonly FleetEvent[]) {
    this.#origin = origin;
    this.#events = events;
    this.#seen = events.at(-1) ?? null;
    this.element = make('section.fleet-changes', make('h2', title), this.#list);
  }

  show(events: readonly FleetEvent[]): void {
    this.#events = events;
    const newest = events.slice(-SHOWN_EVENTS).reverse();
    this.element.hidden = newest.length === 0;
    fillChildren(
      this.#list,
      this.#rows,
      newest,
      () => new EventRow(),
      (row, event) =>
        row.show(formatTime(event.at / 1000, true), describeEvent(event, this.#origin)),
    );
    if (events.at(-1) === (this.#seen ?? undefined) || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#announce(), ANNOUNCE_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** Announces what happened up to now, also while the timer ran. */
  #announce(): void {
    const events = this.#events;
    this.#timer = undefined;
    this.announcer.textContent = summarizeEvents(listNewer(events, this.#seen), this.#origin);
    this.#seen = events.at(-1) ?? null;
  }
}

class EventRow {
  readonly element: HTMLElement;
  readonly #time = new LiveText('time');
  readonly #text = new LiveText('span');

  constructor() {
    this.element = make('li', this.#time.element, ' ', this.#text.element);
  }

  show(time: string, text: string): void {
    this.#time.set(time);
    this.#text.set(text);
  }
}
