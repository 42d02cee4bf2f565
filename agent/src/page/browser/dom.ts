type Child = Node | string;

/**
 * Makes an element. Whatever a machine says goes through here or `setText`, as text: it is never read as HTML.
 * @param name the element, with its classes after dots: `div.card.wide`
 */
export function make(name: string, ...children: readonly Child[]): HTMLElement {
  const [tag = 'div', ...classes] = name.split('.');
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(' ');
  element.append(...children);
  return element;
}

/** An element of the page as it was served. @throws TypeError when it is not there */
export function find(selector: string): HTMLElement {
  const found = document.querySelector(selector);
  if (found instanceof HTMLElement) return found;
  throw new TypeError(`The page has no ${selector}.`);
}

/** Sets a text; one that is there already costs nothing. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Shows one child for each item: those there are take the next items, so that a list of figures makes no new elements.
 * @param create a child without its texts
 */
export function fillChildren<Item, Made extends { readonly element: HTMLElement }>(
  parent: HTMLElement,
  made: Made[],
  items: readonly Item[],
  create: () => Made,
  fill: (child: Made, item: Item) => void,
): void {
  while (made.length < items.length) {
    const child = create();
    made.push(child);
    parent.append(child.element);
  }
  while (made.length > items.length) made.pop()?.element.remove();
  for (const [at, item] of items.entries()) {
    const child = made[at];
    if (child !== undefined) fill(child, item);
  }
}

/** What a reader chose, kept by the browser. Where it keeps nothing (storage is switched off), it is kept by the page. */
interface Kept {
  read(): string | null;
  /** @param value null forgets it */
  write(value: string | null): void;
}

/** @param area for how long: `sessionStorage` for the tab, `localStorage` for good */
export function keep(area: 'localStorage' | 'sessionStorage', key: string): Kept {
  let value = attempt(() => globalThis[area].getItem(key));
  return {
    read: () => value,
    write(next) {
      value = next;
      attempt(() => {
        if (next === null) globalThis[area].removeItem(key);
        else globalThis[area].setItem(key, next);
        return null;
      });
    },
  };
}

function attempt(use: () => string | null): string | null {
  try {
    return use();
  } catch {
    // Browsers throw where storage is switched off; the page works without.
    return null;
  }
}
