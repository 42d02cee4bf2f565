import { make } from '../../browser/dom.ts';
import { formatTime } from '../../browser/format.ts';
import { HISTORY_SLOTS } from '../core/types.ts';
import { LiveText, makeWith, Rows } from './elements.ts';
import type { FigureMachine } from './figure-painter.ts';
import { formatValue, type Quantity, readSlot } from './quantities.ts';

/** The values of the figure as a table: its alternative for screen readers. It costs nothing until it is opened. */
export class ValueTable {
  readonly element = document.createElement('details');
  readonly #caption = new LiveText('caption');
  readonly #heading = new LiveText('th');
  readonly #body = make('tbody');
  readonly #rows = new Rows<ValueRow>(this.#body);
  #showAgain: () => void = () => undefined;

  constructor() {
    this.element.className = 'fleet-values';
    this.#heading.element.setAttribute('scope', 'col');
    const head = make('tr', makeWith('th', { scope: 'col' }, 'Machine'), this.#heading.element);
    this.element.append(
      make('summary', 'Values as a table'),
      make('table.fleet-table', this.#caption.element, make('thead', head), this.#body),
    );
    this.element.addEventListener('toggle', () => this.#showAgain());
  }

  /** Shows the values of a slot. @param slot null: the newest */
  show(
    quantity: Quantity,
    machines: readonly FigureMachine[],
    slot: number | null,
    end: number,
  ): void {
    this.#showAgain = () => this.show(quantity, machines, slot, end);
    if (!this.element.open) return;
    const at = slot ?? HISTORY_SLOTS - 1;
    this.#caption.set(`At ${formatTime(end - HISTORY_SLOTS + at + 1, true)}`);
    this.#heading.set(quantity.title);
    this.#rows.show(
      machines.map(({ machine }) => machine.listed.id),
      () => new ValueRow(),
    );
    for (const { machine } of machines) {
      const value = formatValue(quantity, readSlot(quantity, machine, at));
      this.#rows.get(machine.listed.id)?.show(machine.listed.name, value);
    }
  }
}

class ValueRow {
  readonly element: HTMLElement;
  readonly #name = new LiveText('th');
  readonly #value = new LiveText('td');

  constructor() {
    this.#name.element.setAttribute('scope', 'row');
    this.element = make('tr', this.#name.element, this.#value.element);
  }

  show(name: string, value: string): void {
    this.#name.set(name);
    this.#value.set(value);
  }
}
