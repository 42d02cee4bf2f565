import { make } from '../../browser/dom.ts';
import { makeButton, makeWith } from './elements.ts';
import type { GroupBy } from './grouping.ts';
import { findQuantity, QUANTITIES, type Quantity } from './quantities.ts';

/** What the controls change. */
export interface ToolbarActions {
  readonly onSearch: (search: string) => void;
  readonly onQuantity: (quantity: Quantity) => void;
  readonly onGroupBy: (by: GroupBy) => void;
  readonly onWall: () => void;
  readonly onHelp: () => void;
}

const GROUPINGS: readonly (readonly [GroupBy, string])[] = [
  ['label', 'By label'],
  ['name', 'By name'],
  ['none', 'No groups'],
];

/** The controls above the machines. */
export class Toolbar {
  readonly element: HTMLElement;
  readonly #search = document.createElement('input');
  readonly #grouping = document.createElement('select');
  readonly #quantities: readonly HTMLButtonElement[];

  /** @param further controls of the page around it */
  constructor(actions: ToolbarActions, further: readonly HTMLElement[]) {
    this.#quantities = QUANTITIES.map((quantity) => {
      const press = (): void => actions.onQuantity(quantity);
      return makeButton('fleet-option', quantity.label, press);
    });
    this.#setUpSearch(actions.onSearch);
    this.#setUpGrouping(actions.onGroupBy);
    const wall = makeButton('fleet-button', 'Wall', actions.onWall);
    const help = makeButton('fleet-button', '?', actions.onHelp);
    help.setAttribute('aria-label', 'Help and keys');
    const choice = makeWith(
      'div.fleet-choice',
      { role: 'group', 'aria-label': 'Quantity' },
      ...this.#quantities,
    );
    this.element = make(
      'div.fleet-tools',
      this.#search,
      choice,
      this.#grouping,
      make('div.fleet-more', wall, ...further, help),
    );
  }

  show(quantity: Quantity, groupBy: GroupBy): void {
    for (const [at, button] of this.#quantities.entries()) {
      button.setAttribute('aria-pressed', String(QUANTITIES[at] === quantity));
    }
    this.#grouping.value = groupBy;
  }

  focusSearch(): void {
    this.#search.focus();
    this.#search.select();
  }

  #setUpSearch(onSearch: (search: string) => void): void {
    const search = this.#search;
    search.type = 'search';
    search.className = 'fleet-search';
    search.placeholder = 'Search machines, labels, problems   /';
    search.setAttribute('aria-label', 'Search machines, labels and problems');
    search.addEventListener('input', () => onSearch(search.value));
    search.addEventListener('keydown', ({ key }) => {
      if (key !== 'Escape') return;
      if (search.value === '') search.blur();
      search.value = '';
      onSearch('');
    });
  }

  #setUpGrouping(onGroupBy: (by: GroupBy) => void): void {
    const options = GROUPINGS.map(([value, text]) => makeWith('option', { value }, text));
    this.#grouping.append(...options);
    this.#grouping.className = 'fleet-select';
    this.#grouping.setAttribute('aria-label', 'Groups');
    this.#grouping.addEventListener('change', () => {
      const chosen = GROUPINGS.find(([value]) => value === this.#grouping.value);
      if (chosen !== undefined) onGroupBy(chosen[0]);
    });
  }
}

/** Returns the quantity of a digit key: `1` is the first. */
export function findQuantityOfKey(key: string): Quantity | null {
  const found = /^[1-9]$/u.test(key) ? QUANTITIES[Number(key) - 1] : undefined;
  return found === undefined ? null : findQuantity(found.key);
}
