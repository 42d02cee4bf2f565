import { make, setText } from '../../browser/dom.ts';
import { makeWith } from './elements.ts';

const TOKEN_FORM = /^[\w.~-]{20,200}$/u;

/** A field for the access token of a machine. */
export class TokenForm {
  readonly element: HTMLElement;
  readonly #input = document.createElement('input');
  readonly #fault = makeWith('p.fleet-fault', { role: 'alert' });

  /** @param name of the machine, for screen readers */
  constructor(name: string, onToken: (token: string) => void) {
    this.#input.type = 'password';
    this.#input.className = 'fleet-field';
    this.#input.autocomplete = 'off';
    this.#input.spellcheck = false;
    this.#input.required = true;
    this.#input.placeholder = 'Access token';
    this.#input.setAttribute('aria-label', `Access token of ${name}`);
    const submit = makeWith('button.fleet-button', { type: 'submit' }, 'Watch');
    this.element = make('form.fleet-token', this.#input, submit, this.#fault);
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit(onToken);
    });
  }

  #submit(onToken: (token: string) => void): void {
    const token = this.#input.value.trim();
    const isValid = TOKEN_FORM.test(token);
    setText(this.#fault, isValid ? '' : 'A token has 20 to 200 letters, digits and - . _ ~');
    if (!isValid) return;
    this.#input.value = '';
    onToken(token);
  }
}
