import { setTimeout as sleep } from 'node:timers/promises';

import type { PoolClient } from 'pg';

import { isLockTimeout } from '#server/db/database-errors.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../../audit/queries.ts';
import { summarizeDay } from '../queries/archive-events.ts';
import { isDropped, recordDrop } from '../queries/event-archives.ts';
import {
  dropPartition,
  isPartitionAwaited,
  listPartitionDays,
  lockPartition,
  lockPartitions,
} from '../queries/partitions.ts';
import { findMeasure } from '../queries/rollup-marks.ts';
import {
  allowLongStatements,
  returnToSavepoint,
  setLockTimeout,
  setSavepoint,
  tryLock,
} from '../queries/transactions.ts';
import type { Day } from '../rules/days.ts';
import { isSame } from '../rules/row-checksum.ts';
import { ArchiveError, DayError } from './archive-error.ts';
import type { ArchiveDependencies, ArchiveRequest, FileSummary } from './dependencies.ts';
import { changedByAnother } from './event-archive.ts';

/** As when old days are removed: it waits for all statements on events, and blocks new ones. */
const DROP_LOCK_TIMEOUT_MS = 200;

const RETRY_MS = 1_000;

/** Longer than a roll-up or a slow report; a backup takes longer. */
const DEADLINE_MS = 60_000;

/** A day whose verified file is in the archive. */
interface VerifiedDay extends FileSummary {
  readonly day: Day;
}

type Attempt = 'dropped' | 'gone' | 'busy';

/**
 * Drops the partition of a day if its events are still those of the file. No event can arrive between the comparison and the drop.
 * @returns false when another process has dropped the partition before
 * @throws DayError when events or the file changed; ArchiveError when another program uses the events for more than a minute
 */
export async function dropDay(
  deps: ArchiveDependencies,
  request: ArchiveRequest,
  verified: VerifiedDay,
): Promise<boolean> {
  // The first attempt may take minutes to compare the events.
  let deadline: number | undefined;
  const isLate = (): boolean => {
    deadline ??= performance.now() + DEADLINE_MS;
    return performance.now() > deadline;
  };
  for (;;) {
    const attempt = await tryDrop(deps, request, verified, isLate);
    if (attempt !== 'busy') return attempt === 'dropped';
    if (isLate()) {
      throw new ArchiveError(
        `${verified.day} is archived, but could not be dropped: another program uses the events. Run the command again later.`,
      );
    }
    await sleep(RETRY_MS);
  }
}

async function tryDrop(
  deps: ArchiveDependencies,
  { actor, reason }: ArchiveRequest,
  verified: VerifiedDay,
  isLate: () => boolean,
): Promise<Attempt> {
  const { day, events, checksum } = verified;
  const { location } = deps.archive;
  const drop = async (client: PoolClient): Promise<Attempt> => {
    await allowLongStatements(client);
    if ((await tryLock(client, 'roll-ups')) === null) return 'busy';
    const now = deps.clock.now();
    const isStored = (await listPartitionDays(client)).includes(day);
    if (isStored) {
      await lockPartition(client, day);
      await requireUnchanged(client, verified);
      if (!(await dropLocked(deps, client, verified, isLate))) return 'busy';
    }
    await recordDrop(client, day, location, now);
    if (!isStored) return 'gone';
    await insertAuditEntry(client, {
      occurredAt: now,
      actor,
      action: 'events.drop',
      subjectId: day,
      reason,
      details: { archive: location, events, checksum },
    });
    return 'dropped';
  };
  try {
    return await inTransaction(deps.pool, drop);
  } catch (error) {
    if (isLockTimeout(error)) return 'busy';
    throw error;
  }
}

/** Call it while the partition is locked. */
async function requireUnchanged(client: PoolClient, { day, ...file }: VerifiedDay): Promise<void> {
  const stored = await summarizeDay(client, day);
  if (!isSame(stored, file)) {
    throw new DayError(
      `The events of ${day} changed while they were archived, and were not dropped: run the command again with --replace.`,
    );
  }
  // Events that arrive after a drop are never in the reports.
  if (await isDropped(client, day)) return;
  if ((await findMeasure(client, 'events', day)) !== stored.events) {
    throw new DayError(
      `The reports do not cover all events of ${day}, which were not dropped: run latchkey report refresh, then this command again.`,
    );
  }
}

/**
 * Drops a partition that is locked against changes. Retries while others read events, without comparing again, unless
 * another transaction waits for the partition.
 * @returns false: try again in a new transaction
 */
async function dropLocked(
  { archive, lock }: ArchiveDependencies,
  client: PoolClient,
  { day, version }: VerifiedDay,
  isLate: () => boolean,
): Promise<boolean> {
  for (;;) {
    await lock.requireHeld();
    if ((await archive.findVersion(day)) !== version) throw changedByAnother(archive.nameOf(day));
    await setSavepoint(client);
    try {
      await setLockTimeout(client, DROP_LOCK_TIMEOUT_MS);
      await lockPartitions(client);
      await dropPartition(client, day);
      return true;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      await returnToSavepoint(client);
    }
    if (isLate() || (await isPartitionAwaited(client, day))) return false;
    await sleep(RETRY_MS);
  }
}
