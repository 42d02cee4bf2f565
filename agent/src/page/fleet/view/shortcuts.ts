/** What the keys do. @returns whether the key is handled */
export type KeyActions = ReadonlyMap<string, () => boolean>;

/** How long `g` waits for its second key in the console. */
const SEQUENCE_MS = 1500;

/** Listens for single keys, unless a person types. @returns a function that ends it */
export function listenForKeys(actions: KeyActions): () => void {
  let sequenceUntilMs = 0;
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]') !== null) return;
    const isSequence = performance.now() < sequenceUntilMs;
    sequenceUntilMs = !isSequence && event.key === 'g' ? performance.now() + SEQUENCE_MS : 0;
    const act = actions.get(event.key);
    if (isSequence || act === undefined || !act()) return;
    event.preventDefault();
    // The page around it may have the same keys.
    event.stopPropagation();
  };
  document.addEventListener('keydown', onKey, { capture: true });
  return () => document.removeEventListener('keydown', onKey, { capture: true });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select');
}

/** Moves the focus to the next or previous visible machine. @returns whether there is one */
export function moveToMachine(root: HTMLElement, step: 1 | -1): boolean {
  const links = [...root.querySelectorAll<HTMLElement>('a.fleet-machine')].filter((link) =>
    link.checkVisibility(),
  );
  const at = links.findIndex((link) => link === document.activeElement);
  const first = step === 1 ? 0 : links.length - 1;
  const next = links[at === -1 ? first : at + step];
  next?.focus();
  return links.length > 0;
}
