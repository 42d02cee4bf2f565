import { LRUCache } from 'lru-cache';

/**
 * Creates a cache that holds at most `maxEntries` and evicts the least recently used one. Its memory grows with its
 * entries: with the option `max`, lru-cache allocates all its lists at once, 24 bytes for each possible entry,
 * which was 11 MB in an idle service.
 */
export function createBoundedCache<V extends {}>(maxEntries: number): LRUCache<string, V> {
  return new LRUCache<string, V>({ maxSize: maxEntries, sizeCalculation: () => 1 });
}
