import { make } from '../../browser/dom.ts';

/** A text that changes: the document is touched only when it differs. */
export class LiveText {
  readonly element: HTMLElement;
  readonly #node = document.createTextNode('');

  /** @param name the element, with its classes after dots */
  constructor(name: string) {
    this.element = make(name, this.#node);
  }

  get text(): string {
    return this.#node.data;
  }

  set(text: string): void {
    if (this.#node.data !== text) this.#node.data = text;
  }
}

/** Creates an element with attributes. */
export function makeWith(
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLElement {
  const element = make(name, ...children);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** Creates a button. @param name its classes after dots, such as `.quiet` */
export function makeButton(name: string, label: string, onPress: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = name.split('.').join(' ').trim();
  button.textContent = label;
  button.addEventListener('click', onPress);
  return button;
}

/** Creates a link that opens in another tab, so that this page goes on watching. */
export function makeOutsideLink(name: string, href: string, label: string): HTMLAnchorElement {
  const link = document.createElement('a');
  link.className = name.split('.').join(' ').trim();
  link.href = href;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  link.textContent = label;
  return link;
}

/**
 * Puts the children of an element into an order, and touches only those that are out of place: one that is moved loses the focus and
 * its scroll position.
 */
export function arrangeChildren(parent: HTMLElement, children: readonly HTMLElement[]): void {
  const kept = new Set<Element>(children);
  const gone = Array.from(parent.children).filter((child) => !kept.has(child));
  for (const child of gone) child.remove();
  let next = parent.firstElementChild;
  for (const child of children) {
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
}

/** Elements by the id of their machine, reused as long as the machine is shown. */
export class Rows<Row extends { readonly element: HTMLElement }> {
  readonly #parent: HTMLElement;
  #rows = new Map<string, Row>();

  constructor(parent: HTMLElement) {
    this.#parent = parent;
  }

  get all(): Iterable<Row> {
    return this.#rows.values();
  }

  /** Shows the rows of these machines in their order. */
  show(ids: readonly string[], create: (id: string) => Row): void {
    const kept = new Map(ids.map((id) => [id, this.#rows.get(id) ?? create(id)]));
    this.#rows = kept;
    const elements = [...kept.values()].map(({ element }) => element);
    arrangeChildren(this.#parent, elements);
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id);
  }
}
