import { make } from '../../browser/dom.ts';
import { formatTime } from '../../browser/format.ts';
import { LiveText, makeWith } from './elements.ts';
import { type Counts, describeCounts, describeRest } from './summary.ts';

/** All machines in words, and what the page does. */
export class Header {
  readonly element: HTMLElement;
  readonly #words = new LiveText('h1');
  readonly #rest = new LiveText('span.fleet-rest');
  readonly #clock = new LiveText('p.fleet-clock');
  readonly #note = new LiveText('p.fleet-note');

  /** @param openedMs when the page was opened, in epoch milliseconds */
  constructor(openedMs: number) {
    const opened = formatTime(openedMs / 1000);
    this.#note.element.setAttribute('role', 'status');
    this.#note.element.hidden = true;
    const duty = makeWith(
      'span.fleet-duty',
      {},
      `Watching since ${opened}. This page warns only while it is open.`,
    );
    this.element = make(
      'div.fleet-head',
      make('div.fleet-words', this.#words.element, make('p', this.#rest.element, ' ', duty)),
      this.#clock.element,
      this.#note.element,
    );
  }

  show(counts: Counts, isPaused: boolean): void {
    const rest = describeRest(counts);
    this.#words.set(isPaused ? 'Paused' : describeCounts(counts));
    this.#rest.set(rest === '' ? '' : `${rest}.`);
    const tone = counts.problem > 0 ? 'problem' : counts.unknown > 0 ? 'unknown' : 'calm';
    this.element.dataset['tone'] = isPaused ? 'unknown' : tone;
  }

  showTime(nowMs: number): void {
    this.#clock.set(formatTime(nowMs / 1000, true));
  }

  /** Shows a sentence about what happened; empty removes it. */
  setNote(sentence: string): void {
    this.#note.set(sentence);
    this.#note.element.hidden = sentence === '';
  }
}
