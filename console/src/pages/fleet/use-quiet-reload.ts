import { useEffect, useRef } from 'preact/hooks';

import { loadDocumentFor } from './document-policy.ts';

/** Nobody uses a page without a key, a pointer or a touch for so long. */
const UNUSED_MS = 60_000;
const CHECK_MS = 1000;

const SIGNS_OF_USE = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;

/**
 * Loads the document again when there are addresses that its policy does not name, and nobody uses the page: at once when it was not
 * used since it was shown, as on a wall or after a look at another tab; else after a minute. Once for the same addresses.
 */
export function useQuietReload(addresses: readonly string[]): void {
  const usedAtMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => listenForUse(usedAtMs), []);
  useEffect(() => {
    if (addresses.length === 0) return undefined;
    const load = (): void => {
      const isUsed = performance.now() - usedAtMs.current < UNUSED_MS;
      if (!document.hidden && !isUsed && !isTyping()) loadDocumentFor(addresses);
    };
    load();
    const timer = setInterval(load, CHECK_MS);
    return () => clearInterval(timer);
  }, [addresses.join(' ')]);
}

/** Records the last use of the page since it was shown. @returns a function that ends it */
function listenForUse(usedAtMs: { current: number }): () => void {
  const note = (): void => {
    usedAtMs.current = performance.now();
  };
  const forget = (): void => {
    if (document.hidden) usedAtMs.current = Number.NEGATIVE_INFINITY;
  };
  for (const sign of SIGNS_OF_USE) addEventListener(sign, note, { passive: true });
  document.addEventListener('visibilitychange', forget);
  return () => {
    for (const sign of SIGNS_OF_USE) removeEventListener(sign, note);
    document.removeEventListener('visibilitychange', forget);
  };
}

/** Whether a person has begun to enter something, such as a token. */
function isTyping(): boolean {
  return document.activeElement?.matches('input, textarea, select') === true;
}
