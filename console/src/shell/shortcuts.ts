/** Keys that work on every page. */
import { navigate } from '#console/app/router.ts';
import { hasRole } from '#console/app/session.ts';
import { PAGES } from '#console/pages.ts';

/** How long `g` waits for its second key. */
const CHORD_MS = 1_500;

/** What the keys open. */
interface Shortcuts {
  readonly help: () => void;
  readonly search: () => void;
}

/** Starts listening. @returns the function that ends it */
export function startShortcuts(shortcuts: Shortcuts): () => void {
  let chordUntilMs = 0;
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
    const isChord = performance.now() < chordUntilMs;
    chordUntilMs = !isChord && event.key === 'g' ? performance.now() + CHORD_MS : 0;
    const handled = isChord ? goTo(event.key) : handle(event.key, shortcuts);
    if (handled) event.preventDefault();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select');
}

function goTo(key: string): boolean {
  const entry = PAGES.find(({ nav, role }) => nav?.key === key && hasRole(role));
  if (entry === undefined) return false;
  navigate(entry.path);
  return true;
}

function handle(key: string, shortcuts: Shortcuts): boolean {
  if (key === '?') shortcuts.help();
  else if (key === '/') shortcuts.search();
  else return key === 'f' && focusListSearch();
  return true;
}

/** Focuses the search of the list that is shown. */
function focusListSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('main input[type="search"]');
  field?.focus();
  field?.select();
  return field !== null;
}
