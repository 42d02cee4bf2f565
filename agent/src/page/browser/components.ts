import type { AgentSnapshot } from '@latchkey/contract';

import type { Chart } from './chart.ts';
import { fillChildren, make, setText } from './dom.ts';

/** Thresholds of amber and red. */
const WARM_RATIO = 0.8;
const HOT_RATIO = 0.92;

/** A bar for a ratio, beside the figure as text. */
export class Meter {
  readonly element = make('div.meter', make('div.filled'));

  constructor() {
    this.element.setAttribute('aria-hidden', 'true');
  }

  /** @param isJudged whether a high ratio is a problem */
  set(ratio: number | undefined, isJudged = true): void {
    this.element.hidden = ratio === undefined;
    if (ratio === undefined) return;
    this.element.style.setProperty('--ratio', Math.min(1, Math.max(0, ratio)).toFixed(4));
    const tone = !isJudged || ratio < WARM_RATIO ? 'calm' : ratio < HOT_RATIO ? 'warm' : 'hot';
    if (this.element.dataset['tone'] !== tone) this.element.dataset['tone'] = tone;
  }
}

/** A part of the page with a heading and a note beside it. */
export class Card {
  readonly element: HTMLElement;
  readonly body = make('div.body');
  readonly #heading = make('h2');
  readonly #note = make('p.note');

  constructor(id: string, title: string, ...children: readonly HTMLElement[]) {
    this.setTitle(title);
    this.#heading.id = `${id}-title`;
    this.element = make('section.card', make('div.head', this.#heading, this.#note), this.body);
    this.element.id = id;
    this.element.setAttribute('aria-labelledby', this.#heading.id);
    this.body.append(...children);
  }

  setTitle(title: string): void {
    setText(this.#heading, title);
  }

  setNote(...parts: readonly (string | undefined)[]): void {
    setText(this.#note, joinKnown(parts));
  }
}

interface TableRow {
  readonly element: HTMLElement;
  readonly cells: readonly HTMLElement[];
}

/** The text of a cell; `–` for an absent value. */
export type Cell = string | undefined;

/** A table; the first column is the row header. */
export class Table {
  readonly element: HTMLElement;
  readonly #body = make('tbody');
  readonly #rows: TableRow[] = [];
  readonly #columns: readonly string[];

  constructor(caption: string, columns: readonly string[]) {
    this.#columns = columns;
    const headings = columns.map((column) => makeHeading('col', column));
    const name = make('caption.unseen', caption);
    const table = make('table', name, make('thead', make('tr', ...headings)), this.#body);
    this.element = make('div.table', table);
  }

  show(rows: readonly (readonly Cell[])[]): void {
    const create = (): TableRow => {
      const cells = this.#columns.map((_, at) => (at === 0 ? makeHeading('row') : make('td')));
      return { element: make('tr', ...cells), cells };
    };
    fillChildren(this.#body, this.#rows, rows, create, ({ cells }, row) => {
      for (const [at, cell] of cells.entries()) {
        setText(cell, row[at] ?? '–');
        if (at === 0) cell.title = row[0] ?? '';
      }
    });
  }
}

function makeHeading(scope: 'row' | 'col', text = ''): HTMLElement {
  const heading = make('th', text);
  heading.setAttribute('scope', scope);
  return heading;
}

interface MeterRow {
  readonly element: HTMLElement;
  readonly name: HTMLElement;
  readonly value: HTMLElement;
  readonly detail: HTMLElement;
  readonly meter: Meter;
}

export interface MeterItem {
  readonly name: string;
  readonly value: string;
  readonly detail?: string;
  readonly ratio?: number | undefined;
  readonly isJudged?: boolean;
  /** Whether the value is a problem. */
  readonly isBad?: boolean;
}

/** A list of names, figures and bars. */
export class MeterList {
  readonly element = make('ul.meters');
  readonly #rows: MeterRow[] = [];

  show(items: readonly MeterItem[]): void {
    fillChildren(this.element, this.#rows, items, makeMeterRow, (row, item) => {
      setText(row.name, item.name);
      setText(row.value, item.value);
      setText(row.detail, item.detail ?? '');
      row.meter.set(item.ratio, item.isJudged);
      row.value.classList.toggle('bad', item.isBad === true);
    });
  }
}

function makeMeterRow(): MeterRow {
  const [name, value, detail] = [make('span.name'), make('span.value'), make('p.detail')];
  const meter = new Meter();
  const line = make('div.line', name, value);
  return { element: make('li', line, meter.element, detail), name, value, detail, meter };
}

/** A part of the page. */
export interface Panel {
  readonly element: HTMLElement;
  /**
   * Shows a snapshot.
   * @returns false when the machine lacks the part, so that the panel is hidden
   */
  update(snapshot: AgentSnapshot): boolean;
  /** Draws its charts. */
  draw?(): void;
}

/** Creates a panel with a chart. */
export function makeChartPanel(card: Card, chart: Chart, update: Panel['update']): Panel {
  return { element: card.element, draw: () => chart.draw(), update };
}

/** Creates a panel with a list, which is hidden without items. */
export function makeListPanel(
  id: string,
  title: string,
  listItems: (snapshot: AgentSnapshot) => readonly MeterItem[],
): Panel {
  const list = new MeterList();
  const card = new Card(id, title, list.element);
  return {
    element: card.element,
    update(snapshot) {
      const items = listItems(snapshot);
      list.show(items);
      return items.length > 0;
    },
  };
}

/** Formats a figure unless it is absent. */
export function formatKnown(
  value: number | undefined,
  format: (value: number) => string,
): string | undefined {
  return value === undefined ? undefined : format(value);
}

/** Joins the parts that are present. */
export function joinKnown(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(' · ');
}
