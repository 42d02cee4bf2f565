import MiniSearch, { type SearchResult } from 'minisearch';

import { SEARCH_OPTIONS } from './search-options.ts';

declare global {
  var latchkeySearchIndex: string | undefined;
}

const MAX_HITS = 8;

/**
 * Lets a field search the documentation. It loads the index at the first use.
 * @param root the path to the root of the site
 * @param list shows the hits
 */
export function openSearch(root: string, field: HTMLInputElement, list: HTMLOListElement): void {
  let index: Promise<MiniSearch> | null = null;
  const show = async (): Promise<void> => {
    index ??= loadIndex(root);
    const loaded = await index;
    const hits = field.value.trim() === '' ? [] : loaded.search(field.value).slice(0, MAX_HITS);
    list.replaceChildren(...hits.map((hit) => renderHit(root, hit)));
    if (hits.length === 0) list.append(renderNothing(field.value));
    list.hidden = field.value.trim() === '';
  };
  field.hidden = false;
  field.addEventListener('input', () => void show());
  document.addEventListener('keydown', (event) => handleKey(event, field, list));
}

/** A script instead of a request, which browsers refuse to pages from the disk. */
async function loadIndex(root: string): Promise<MiniSearch> {
  const script = document.createElement('script');
  script.src = `${root}/search-index.js`;
  const loaded = new Promise((resolve) => script.addEventListener('load', resolve));
  document.head.append(script);
  await loaded;
  return MiniSearch.loadJSON(globalThis.latchkeySearchIndex ?? '', SEARCH_OPTIONS);
}

function renderHit(root: string, { id, ...hit }: SearchResult): HTMLLIElement {
  const link = document.createElement('a');
  link.href = `${root}/${String(id)}`;
  const heading = document.createElement('strong');
  heading.textContent = String(hit['heading']);
  const page = document.createElement('span');
  page.textContent = hit['title'] === hit['heading'] ? '' : String(hit['title']);
  const excerpt = document.createElement('p');
  excerpt.textContent = String(hit['excerpt']);
  link.append(heading, ' ', page, excerpt);
  return wrap(link);
}

function renderNothing(text: string): HTMLLIElement {
  return wrap(`Nothing contains all words of “${text.trim()}”.`);
}

function wrap(content: Node | string): HTMLLIElement {
  const item = document.createElement('li');
  item.append(content);
  return item;
}

/** `/` goes to the field, arrows to the hits, Escape closes them. */
function handleKey(event: KeyboardEvent, field: HTMLInputElement, list: HTMLOListElement): void {
  if (event.key === '/' && document.activeElement !== field) field.focus();
  else if (event.key === 'Escape') list.hidden = true;
  else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const places = [field, ...list.querySelectorAll('a')];
    const at = places.findIndex((each) => each === document.activeElement);
    if (at === -1 || list.hidden) return;
    places[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
  } else return;
  event.preventDefault();
}
