import type { SearchHit } from '@latchkey/contract';

import { onForget, operator } from './session.ts';

/** What is kept of an opened hit: no key and nothing that was typed. */
export type RecentHit = Pick<SearchHit, 'kind' | 'title' | 'detail' | 'path' | 'status'>;

/** Gone with the browser's tab, because titles are addresses of customers. */
const KEY = 'latchkey.recent';
const MAX_RECENT = 6;

/**
 * Returns the hits that the operator opened last, newest first. Those of another one are forgotten: that one may have signed out
 * in another tab.
 */
export function listRecent(): readonly RecentHit[] {
  const stored = read();
  if (stored === null) return [];
  const { hits, of } = stored;
  if (of === operator.peek()?.id) return hits.filter(isHit);
  write(null);
  return [];
}

/** Stores that the operator opened a hit. */
export function addRecent({ detail, kind, path, status, title }: RecentHit): void {
  const others = listRecent().filter((each) => each.path !== path);
  const hits = [{ kind, title, detail, path, status }, ...others].slice(0, MAX_RECENT);
  write({ of: operator.peek()?.id, hits });
}

onForget(() => write(null));

/** Hits with the id of their operator. */
interface Stored {
  readonly of: unknown;
  readonly hits: readonly unknown[];
}

function write(stored: Stored | null): void {
  try {
    if (stored === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify(stored));
  } catch {
    // Storage is forbidden: nothing is kept.
    return;
  }
}

function read(): Stored | null {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null');
    return isStored(stored) ? stored : null;
  } catch {
    // Written by another version, or storage is forbidden.
    return null;
  }
}

function isStored(value: unknown): value is Stored {
  if (typeof value !== 'object' || value === null) return false;
  return 'of' in value && 'hits' in value && Array.isArray(value.hits);
}

function isHit(value: unknown): value is RecentHit {
  return (
    typeof value === 'object' &&
    value !== null &&
    'path' in value &&
    typeof value.path === 'string' &&
    value.path.startsWith('/') &&
    'title' in value &&
    typeof value.title === 'string' &&
    'kind' in value &&
    typeof value.kind === 'string'
  );
}
