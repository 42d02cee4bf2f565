import type { ArchiveLocation } from '@latchkey/contract';
import type { Pool } from 'pg';

import { listArchiveLocations } from '../queries/event-archives.ts';

/** Returns the archives that may contain more events of an erased install; list them after the erasure. */
export async function listArchives({ pool }: { readonly pool: Pool }): Promise<ArchiveLocation[]> {
  const locations = await listArchiveLocations(pool);
  return locations.map(({ location, days, firstDay, lastDay }) => ({
    location,
    days,
    first_day: firstDay,
    last_day: lastDay,
  }));
}
