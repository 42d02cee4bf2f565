/** What a reader chose, kept by the browser. Where it keeps nothing (storage is switched off), it is kept by the page. */
export interface Kept {
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
