import { make, setText } from '../../browser/dom.ts';

/** What to do when no machine is shown. */
export class EmptyNote {
  readonly element: HTMLElement;
  readonly #text = make('p');

  /** @param control that edits or shows the list; null: there is none */
  constructor(control: HTMLElement | null) {
    this.element = make('div.fleet-empty', this.#text, ...(control === null ? [] : [control]));
    this.element.hidden = true;
  }

  /** @param total the number of listed machines @param found the number of those that match the search */
  show(total: number, found: number, search: string): void {
    this.element.hidden = found > 0;
    this.element.dataset['kind'] = total === 0 ? 'list' : 'search';
    setText(this.#text, total === 0 ? describeEmpty() : `No machine matches “${search.trim()}”.`);
  }
}

function describeEmpty(): string {
  return `List the addresses of machines that run an agent. Each agent must allow this page: run “latchkey-agent origins add ${location.origin}” there.`;
}
