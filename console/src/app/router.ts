/** The location of the console: the path below `/console` and the query, as signals. */
import { computed, signal } from '@preact/signals';

import { isSafeReturnPath, withQuery, type QueryChanges } from './query.ts';

/** The path prefix of the console. */
const BASE = '/console';

/** The path of the sign-in page. */
export const SIGN_IN = '/sign-in';

const address = signal(readAddress());

/** The path below `/console`, which begins with `/`. */
export const path = computed(() => address.value.path);

/** The query of the address; replaced, never changed in place. */
export const query = computed(() => new URLSearchParams(address.value.search));

function readAddress(): { readonly path: string; readonly search: string } {
  const { pathname, search } = globalThis.location;
  return { path: pathname.slice(BASE.length) || '/', search };
}

/** Returns the `href` of a path of the console, such as `/licenses?status=active`. */
export function hrefOf(to: string): string {
  return to === '/' ? BASE : BASE + to;
}

/** Pages whose document has a content security policy of its own. */
const OWN_DOCUMENTS = ['/fleet'];

/** Goes to a path of the console; loads the document of a page that has its own, and of the page after it. */
export function navigate(to: string, { replace = false } = {}): void {
  const before = path.peek();
  if (needsDocument(before, to)) {
    if (replace) globalThis.location.replace(hrefOf(to));
    else globalThis.location.assign(hrefOf(to));
    return;
  }
  if (replace) history.replaceState(null, '', hrefOf(to));
  else history.pushState(null, '', hrefOf(to));
  address.value = readAddress();
  if (path.peek() !== before) globalThis.scrollTo(0, 0);
}

function needsDocument(before: string, to: string): boolean {
  const [after = ''] = to.split('?');
  return before !== after && OWN_DOCUMENTS.some((each) => each === before || each === after);
}

/** Changes parameters of the query; null and '' remove one. Filters replace the history entry, pages push one. */
export function changeQuery(changes: QueryChanges, { replace = true } = {}): void {
  navigate(path.peek() + withQuery(query.peek(), changes), { replace });
}

/** Returns the path to return to after signing in: the parameter `next` if it is a path of the console. */
export function returnPath(): string {
  const next = query.peek().get('next') ?? '/';
  return isSafeReturnPath(next) ? next : '/';
}

/** Follows links of the console without loading the document, and the buttons of the history. */
export function startRouter(): void {
  globalThis.addEventListener('popstate', () => {
    address.value = readAddress();
  });
  document.addEventListener('click', (event) => {
    const to = readTarget(event);
    if (to === null) return;
    event.preventDefault();
    navigate(to);
  });
}

/** Returns the path of a plain click on a link of the console; null for every other click. */
function readTarget(event: MouseEvent): string | null {
  if (event.defaultPrevented || !isPlain(event) || !(event.target instanceof Element)) return null;
  const link = event.target.closest('a');
  if (link === null || link.target !== '' || link.hasAttribute('download')) return null;
  return toConsolePath(new URL(link.href));
}

/** Whether a click does not ask for another tab or window. */
function isPlain({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean {
  return button === 0 && !(metaKey || ctrlKey || shiftKey || altKey);
}

function toConsolePath({ origin, pathname, search, hash }: URL): string | null {
  if (origin !== globalThis.location.origin || hash !== '') return null;
  if (pathname !== BASE && !pathname.startsWith(`${BASE}/`)) return null;
  return (pathname.slice(BASE.length) || '/') + search;
}
