const LEAST_COLUMN_PX = 370;
const MOST_COLUMNS = 4;
const GAP_PX = 14;

/**
 * Assigns cards to columns: each to the shortest column, so that they keep their order from top to bottom.
 * @param heights of the cards
 * @returns the column of each
 */
export function assignColumns(heights: readonly number[], columnCount: number): number[] {
  const ends = Array.from({ length: columnCount }, () => 0);
  return heights.map((height) => {
    const column = ends.indexOf(Math.min(...ends));
    ends[column] = (ends[column] ?? 0) + height + GAP_PX;
    return column;
  });
}

/** Arranges cards in columns. Cards move only when others are shown or the width changes. */
export class Layout {
  readonly #parent: HTMLElement;
  readonly #cards: readonly HTMLElement[];
  #arrangement = '';

  constructor(parent: HTMLElement, cards: readonly HTMLElement[]) {
    this.#parent = parent;
    this.#cards = cards;
    new ResizeObserver(() => this.arrange()).observe(parent);
  }

  arrange(): void {
    const width = this.#parent.clientWidth;
    const shown = this.#cards.filter(({ hidden }) => !hidden);
    if (width === 0 || shown.length === 0) return;
    const fitting = Math.floor((width + GAP_PX) / (LEAST_COLUMN_PX + GAP_PX));
    const count = Math.max(1, Math.min(MOST_COLUMNS, fitting, shown.length));
    const arrangement = [count, ...shown.map(({ id }) => id)].join(' ');
    if (arrangement === this.#arrangement) return;
    this.#arrangement = arrangement;
    this.#place(shown, count);
  }

  #place(shown: readonly HTMLElement[], count: number): void {
    const columns = Array.from({ length: count }, () => document.createElement('div'));
    // Cards have the same height in any column, so the first one serves to measure them.
    columns[0]?.append(...shown);
    this.#parent.replaceChildren(...columns);
    const places = assignColumns(
      shown.map(({ offsetHeight }) => offsetHeight),
      count,
    );
    for (const [at, card] of shown.entries()) columns[places[at] ?? 0]?.append(card);
  }
}
