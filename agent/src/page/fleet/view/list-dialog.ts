import { make, setText } from '../../browser/dom.ts';
import type { ListedMachine } from '../core/types.ts';
import { makeButton, makeWith } from './elements.ts';
import { readListText, writeListText } from './list-text.ts';

/** What the dialog does with a list. */
interface ListDialogActions {
  readonly save: (list: readonly ListedMachine[]) => void;
  /** Returns an address that contains the list; null: there is none. */
  readonly share: ((list: readonly ListedMachine[]) => string) | null;
}

const EXAMPLE =
  'db-1.example.com\nweb-1.example.com/latchkey, web-1, web, oslo\n192.168.1.7, office';

/** A dialog with the list of machines as text, since a hundred machines are pasted, not typed. */
export class ListDialog {
  readonly element = document.createElement('dialog');
  readonly #text = document.createElement('textarea');
  readonly #fault = makeWith('p.fleet-fault', { role: 'alert' });
  readonly #actions: ListDialogActions;

  constructor(actions: ListDialogActions) {
    this.#actions = actions;
    const explanation = makeWith(
      'p',
      { id: 'fleet-list-explanation' },
      'One machine on each line: address, then its name and labels, separated by commas. Only the address is needed; port 4096 is usual, and behind a web server, port 443 with a path. The list stays in this browser.',
    );
    this.#text.rows = 12;
    this.#text.spellcheck = false;
    this.#text.placeholder = EXAMPLE;
    this.#text.setAttribute('aria-labelledby', 'fleet-list-title');
    this.#text.setAttribute('aria-describedby', 'fleet-list-explanation');
    this.element.className = 'fleet-dialog';
    this.element.setAttribute('aria-labelledby', 'fleet-list-title');
    this.element.append(
      makeWith('h2', { id: 'fleet-list-title' }, 'Machines'),
      explanation,
      this.#text,
      this.#fault,
      this.#makeButtons(),
    );
  }

  open(list: readonly ListedMachine[]): void {
    this.#text.value = writeListText(list);
    setText(this.#fault, '');
    this.element.showModal();
    this.#text.focus();
  }

  #makeButtons(): HTMLElement {
    const { share } = this.#actions;
    const save = makeButton('fleet-button.fleet-primary', 'Watch these machines', () =>
      this.#save(),
    );
    const cancel = makeButton('fleet-button', 'Cancel', () => this.element.close());
    const buttons = make('div.fleet-buttons', save, cancel);
    if (share === null) return buttons;
    const copy = makeButton('fleet-button', 'Copy as link', () => {
      const machines = this.#read();
      if (machines !== null) void this.#copy(share(machines));
    });
    buttons.append(copy);
    return buttons;
  }

  #save(): void {
    const machines = this.#read();
    if (machines === null) return;
    this.element.close();
    this.#actions.save(machines);
  }

  /** Returns the list, or shows what is wrong with it. */
  #read(): readonly ListedMachine[] | null {
    const { machines, faults } = readListText(this.#text.value);
    setText(this.#fault, faults.slice(0, 3).join(' '));
    return faults.length === 0 ? machines : null;
  }

  async #copy(link: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(link);
      setText(
        this.#fault,
        'The link is copied. It contains names, addresses and labels, and no token.',
      );
    } catch {
      // Without permission; the person copies it.
      setText(this.#fault, link);
    }
  }
}
