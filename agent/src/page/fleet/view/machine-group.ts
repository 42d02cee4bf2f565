import { make } from '../../browser/dom.ts';
import type { Machine } from '../core/types.ts';
import { CurveColumn } from './curve-column.ts';
import { LiveText, makeWith, Rows } from './elements.ts';
import type { Group } from './grouping.ts';
import { MachineLink } from './machine-link.ts';
import { describeRemark } from './machine-texts.ts';
import type { Palette } from './palette.ts';
import { formatValue, QUANTITIES, type Quantity, readLatest } from './quantities.ts';
import type { Settings } from './settings.ts';

let groupCount = 0;

/** A group of machines: a heading that folds it, a line for each machine, and a column of curves. */
export class MachineGroup {
  readonly element: HTMLElement;
  readonly #key: string;
  readonly #settings: Settings;
  readonly #title = new LiveText('span.fleet-group-title');
  readonly #note = new LiveText('span.fleet-group-note');
  readonly #caption = new LiveText('caption.fleet-unseen');
  readonly #button: HTMLButtonElement;
  readonly #body = make('tbody');
  readonly #table: HTMLElement;
  readonly #frame: HTMLElement;
  readonly #rows = new Rows<MachineRow>(this.#body);
  readonly #curves: CurveColumn;
  #machines: readonly Machine[] = [];
  #quantity: Quantity | null = null;

  constructor(key: string, settings: Settings, palette: Palette) {
    this.#key = key;
    this.#settings = settings;
    groupCount += 1;
    const id = `fleet-group-${groupCount}`;
    this.#button = document.createElement('button');
    this.#button.type = 'button';
    this.#button.className = 'fleet-fold';
    this.#button.setAttribute('aria-controls', id);
    this.#button.append(this.#title.element, this.#note.element);
    this.#button.addEventListener('click', () => this.#fold(!this.#frame.hidden));
    this.#table = make('table.fleet-table', this.#caption.element, makeHead(), this.#body);
    this.#curves = new CurveColumn(this.#body, palette);
    this.#frame = make('div.fleet-lines', this.#table, this.#curves.element);
    this.#frame.id = id;
    this.element = make('section.fleet-group', make('h3', this.#button), this.#frame);
    this.#fold(settings.isFolded(key));
  }

  /** Shows the machines of the group. */
  show({ title, items }: Group<Machine>, quantity: Quantity): void {
    this.#machines = items;
    this.#quantity = quantity;
    this.#title.set(title);
    this.#note.set(String(items.length));
    this.#caption.set(`${title}, newest figures`);
    if (this.#table.dataset['quantity'] !== quantity.key) {
      this.#table.dataset['quantity'] = quantity.key;
    }
    const machines = new Map(items.map((machine) => [machine.listed.id, machine]));
    this.#rows.show([...machines.keys()], () => new MachineRow());
    for (const [id, machine] of machines) this.#rows.get(id)?.show(machine);
  }

  /** Shows newer figures and curves, unless the group is folded. */
  update(nowMs: number, toRatio: (value: number) => number): void {
    if (this.#frame.hidden || this.#quantity === null) return;
    for (const row of this.#rows.all) row.update(nowMs);
    this.#curves.draw(this.#machines, this.#quantity, toRatio);
  }

  close(): void {
    this.#curves.close();
  }

  #fold(isFolded: boolean): void {
    this.#frame.hidden = isFolded;
    this.#button.setAttribute('aria-expanded', String(!isFolded));
    this.#settings.setFolded(this.#key, isFolded);
  }
}

function makeHead(): HTMLElement {
  const titles = QUANTITIES.map(({ key, label }) => {
    return makeWith('th', { scope: 'col', 'data-key': key }, label);
  });
  const name = makeWith('th', { scope: 'col' }, 'Machine');
  const curve = makeWith('td.fleet-curve', { 'aria-hidden': 'true' });
  return make('thead', make('tr', name, ...titles, curve));
}

/** A machine in one line. */
class MachineRow {
  readonly element: HTMLElement;
  readonly #link = new MachineLink();
  readonly #remark = new LiveText('span.fleet-remark');
  readonly #cells = QUANTITIES.map((quantity) => {
    const text = new LiveText('td');
    text.element.dataset['key'] = quantity.key;
    return { quantity, text };
  });
  #machine: Machine | null = null;

  constructor() {
    const name = makeWith('th', { scope: 'row' }, this.#link.element, ' ', this.#remark.element);
    const curve = makeWith('td.fleet-curve', { 'aria-hidden': 'true' });
    this.element = make('tr', name, ...this.#cells.map(({ text }) => text.element), curve);
  }

  show(machine: Machine): void {
    this.#machine = machine;
    this.#link.show(machine.listed);
    this.element.classList.toggle('fleet-stale', machine.state.kind !== 'live');
  }

  update(nowMs: number): void {
    if (this.#machine === null) return;
    this.#remark.set(describeRemark(this.#machine, nowMs));
    for (const { quantity, text } of this.#cells) {
      text.set(formatValue(quantity, readLatest(quantity, this.#machine)));
    }
  }
}
