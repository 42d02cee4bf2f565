import type { ArchiveLocation } from '@latchkey/contract';

import { countOf } from '#server/lib/text.ts';

/** Returns a note of the archives that an erasure does not reach; null: there are none. */
export function describeArchives(archives: readonly ArchiveLocation[]): string | null {
  if (archives.length === 0) return null;
  const lines = archives.map(
    ({ location, days, first_day: first, last_day: last }) =>
      `  ${location}: ${countOf(days, 'day')}, ${first} to ${last}`,
  );
  return `Archived events are not erased. Search these archives, as docs/operations/event-archive.md describes:\n${lines.join('\n')}`;
}
