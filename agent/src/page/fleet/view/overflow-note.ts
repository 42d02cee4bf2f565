import { LiveText } from './elements.ts';

/** The number of rows that a list on a wall has no room for, since nobody can scroll there. */
export class OverflowNote {
  readonly element: HTMLElement;
  readonly #text = new LiveText('p.fleet-overflow');
  readonly #observed = new Set<Element>();
  /** Those of the observed rows that are outside of the list. */
  readonly #outside = new Set<Element>();
  readonly #observer: IntersectionObserver;

  /** @param list whose styles move rows without room out of it; elsewhere it shows all */
  constructor(list: HTMLElement) {
    this.element = this.#text.element;
    // Reports changes without a layout while figures are drawn.
    this.#observer = new IntersectionObserver((entries) => this.#note(entries), { root: list });
  }

  /** Counts these rows of the list. */
  observe(rows: Iterable<Element>): void {
    const shown = new Set(rows);
    for (const row of this.#observed.difference(shown)) this.#forget(row);
    for (const row of shown.difference(this.#observed)) {
      this.#observed.add(row);
      this.#observer.observe(row);
    }
    this.#show();
  }

  close(): void {
    this.#observer.disconnect();
  }

  #forget(row: Element): void {
    this.#observer.unobserve(row);
    this.#observed.delete(row);
    this.#outside.delete(row);
  }

  #note(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting || !this.#observed.has(target)) this.#outside.delete(target);
      else this.#outside.add(target);
    }
    this.#show();
  }

  #show(): void {
    const { size } = this.#outside;
    this.#text.set(size === 0 ? '' : `and ${size} more`);
  }
}
