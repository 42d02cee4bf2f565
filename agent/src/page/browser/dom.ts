type Child = Node | string;

/**
 * Creates an element. Texts of a machine are inserted here or by `setText`, never as HTML.
 * @param name the element, with its classes after dots: `div.card.wide`
 */
export function make(name: string, ...children: readonly Child[]): HTMLElement {
  const [tag = 'div', ...classes] = name.split('.');
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(' ');
  element.append(...children);
  return element;
}

/** Finds an element of the served page. @throws TypeError when it is missing */
export function find(selector: string): HTMLElement {
  const found = document.querySelector(selector);
  if (found instanceof HTMLElement) return found;
  throw new TypeError(`The page has no ${selector}.`);
}

/** Sets a text unless it is unchanged. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Shows one child for each item, and reuses the existing elements.
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

/** A stored value, in memory when the browser's storage is disabled. */
interface StoredValue {
  read(): string | null;
  /** @param value null removes it */
  write(value: string | null): void;
}

/** @param area `sessionStorage` for the tab, `localStorage` permanently */
export function openStorage(area: 'localStorage' | 'sessionStorage', key: string): StoredValue {
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
    // Browsers throw when storage is disabled; the page works without it.
    return null;
  }
}
