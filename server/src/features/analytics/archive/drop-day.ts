import { setTimeout as sleep } from 'node:timers/promises';

import type { PoolClient } from 'pg';

import { isLockTimeout } from '#server/db/database-errors.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../../audit/queries.ts';
import { summarizeDay } from '../queries/archive-events.ts';
import { recordDrop, type ArchivedDay } from '../queries/event-archives.ts';
import {
  dropPartition,
  listPartitionDays,
  lockPartition,
  lockPartitions,
} from '../queries/partitions.ts';
import { findMeasure } from '../queries/rollup-marks.ts';
import { allowLongStatements, setLockTimeout, tryLock } from '../queries/transactions.ts';
import { ArchiveError } from './archive-error.ts';
import type { ArchiveDependencies, ArchiveRequest } from './dependencies.ts';
import { isSame } from '../rules/row-checksum.ts';

/** As when old days are removed: it waits for all statements on events, and blocks new ones. */
const DROP_LOCK_TIMEOUT_MS = 200;

const RETRY_MS = 1_000;

/** Longer than a roll-up or a slow report; a backup takes longer. */
const DEADLINE_MS = 60_000;

/**
 * Drops the partition of a day if its events are still those of the archive. No event can arrive between the comparison and the drop.
 * @param file for the audit log
 * @throws ArchiveError when events changed, or another program uses them for more than a minute
 */
export async function dropDay(
  deps: ArchiveDependencies,
  request: ArchiveRequest,
  archived: ArchivedDay,
): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await tryDrop(deps, request, archived))) {
    if (performance.now() > deadline) {
      throw new ArchiveError(
        `${archived.day} is archived, but could not be dropped: another program uses the events. Run the command again later.`,
      );
    }
    await sleep(RETRY_MS);
  }
}

/** Returns whether the partition was dropped; false: another transaction uses it. */
async function tryDrop(
  { clock, pool }: ArchiveDependencies,
  { actor, reason }: ArchiveRequest,
  archived: ArchivedDay,
): Promise<boolean> {
  const { day, location, events, checksum } = archived;
  const drop = async (client: PoolClient): Promise<boolean> => {
    await allowLongStatements(client);
    if ((await tryLock(client, 'roll-ups')) === null) return false;
    const now = clock.now();
    if ((await listPartitionDays(client)).includes(day)) {
      await lockPartition(client, day);
      await requireUnchanged(client, archived);
      await setLockTimeout(client, DROP_LOCK_TIMEOUT_MS);
      await lockPartitions(client);
      await dropPartition(client, day);
    }
    await recordDrop(client, day, location, now);
    await insertAuditEntry(client, {
      occurredAt: now,
      actor,
      action: 'events.drop',
      subjectId: day,
      reason,
      details: { archive: location, events, checksum },
    });
    return true;
  };
  try {
    return await inTransaction(pool, drop);
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}

/** Call it while the partition is locked. */
async function requireUnchanged(client: PoolClient, archived: ArchivedDay): Promise<void> {
  const { day } = archived;
  const stored = await summarizeDay(client, day);
  if (!isSame(stored, archived)) {
    throw new ArchiveError(
      `The events of ${day} changed while they were archived, and were not dropped: run the command again with --replace.`,
    );
  }
  const reported = await findMeasure(client, 'events', day);
  if (reported !== stored.events) {
    throw new ArchiveError(
      `The reports do not cover all events of ${day}, which were not dropped: run latchkey report refresh, then this command again.`,
    );
  }
}
