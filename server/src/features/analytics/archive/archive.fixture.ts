import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach } from 'node:test';

import { readDatabaseTime } from '#server/db/database-time.ts';

import { finishDays, storePastDay } from '../../../../test/archived-events.ts';
import { openTestPool } from '../../../../test/database-pool.ts';
import { queryDuckDb } from '../../../../test/duckdb.ts';
import { createTestClock } from '../../../../test/test-clock.ts';
import { listPartitionDays } from '../queries/partitions.ts';
import { archiveDay, type DayOutcome } from './archive-day.ts';
import { withArchiveLock } from './archive-lock.ts';
import type { ArchiveRequest } from './dependencies.ts';
import type { EventArchive } from './event-archive.ts';
import { openArchive } from './open-archive.ts';

/** The day that tests archive. */
export const DAY = '2026-03-02';

const REQUEST = {
  before: '2026-04-01',
  keep: false,
  replace: false,
  actor: 'cli:test',
  reason: null,
};

/** Stores an event of `DAY`, as a process with a wrong clock does. */
export const LATE_EVENT = `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version)
  values (gen_random_uuid(), '2026-03-02T13:00:00Z', gen_random_uuid(), gen_random_uuid(), 'late', now(), '1')`;

/** Opens a database whose days are archived; each test begins without events, and with an empty directory. */
export async function openArchiveFixture() {
  const root = await mkdtemp(join(tmpdir(), 'latchkey-archive-test-'));
  after(() => rm(root, { recursive: true }));
  const pool = await openTestPool({ maxConnections: 6 });
  /** Not later than the database's, which counts, too. */
  const clock = createTestClock(new Date('2026-03-10T12:00:00Z'));
  const time = { pool, clock, readDatabaseTime };
  let place = '';

  async function useNewDirectory(): Promise<void> {
    place = await mkdtemp(join(root, 'archive-'));
  }

  beforeEach(async () => {
    for (const day of await listPartitionDays(pool)) {
      await pool.query(`drop table events_${day.replaceAll('-', '_')}`);
    }
    await pool.query(
      'truncate rollup_marks, event_archives, event_name_days, event_days, event_prop_days',
    );
    clock.set(new Date('2026-03-10T12:00:00Z'));
    await useNewDirectory();
  });

  const fileOf = (day = DAY): string => join(place, `events/day=${day}/events.parquet`);

  /** Archives `DAY`. */
  function archiveTo(opened: EventArchive, more: Partial<ArchiveRequest> = {}) {
    const deps = { ...time, archive: opened };
    const request = { ...REQUEST, ...more };
    return withArchiveLock(deps, (lock) => archiveDay({ ...deps, lock }, request, DAY, () => {}));
  }

  return {
    pool,
    clock,
    time,
    fileOf,
    archiveTo,
    useNewDirectory,
    place: () => place,
    open: () => openArchive(place, {}),
    archive: async (more: Partial<ArchiveRequest> = {}): Promise<DayOutcome | null> =>
      archiveTo(await openArchive(place, {}), more),
    /** Stores a closed day. */
    closeDay: async (events: number, day = DAY): Promise<void> => {
      await storePastDay(pool, day, events);
      await finishDays(time);
    },
    /** Asserts the number of events in a file. */
    assertArchived: async (events: number, file = fileOf()): Promise<void> => {
      const rows = await queryDuckDb(`select count(*) as n from '${file}'`);
      assert.deepEqual(rows, [{ n: String(events) }]);
    },
  };
}
