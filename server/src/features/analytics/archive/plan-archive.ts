import { insertAuditEntry } from '../../audit/queries.ts';
import { listPartitionDays } from '../queries/partitions.ts';
import { listMarks } from '../queries/rollup-marks.ts';
import { readEarlierTime, type TimeDependencies } from '../rollups/maintenance-transaction.ts';
import type { Day } from '../rules/days.ts';
import { findUnsettled } from '../rules/rollup-marks.ts';
import type { ArchiveDependencies, ArchiveRequest } from './dependencies.ts';

/** Days that are stored. */
export interface ArchivePlan {
  readonly closed: readonly Day[];
  /** Their roll-up is not final yet. */
  readonly open: readonly Day[];
}

/** Returns the stored days before a day. */
export async function planArchive(deps: TimeDependencies, before: Day): Promise<ArchivePlan> {
  const now = await readEarlierTime(deps);
  const days = (await listPartitionDays(deps.pool)).filter((day) => day < before);
  const open = findUnsettled(days, await listMarks(deps.pool, 'events'), now);
  return { closed: days.filter((day) => !open.includes(day)), open };
}

/** Records in the audit log that events are about to be copied to an archive. */
export async function recordArchive(
  { archive, clock, pool }: ArchiveDependencies,
  { actor, before, keep, reason, replace }: ArchiveRequest,
): Promise<void> {
  await insertAuditEntry(pool, {
    occurredAt: clock.now(),
    actor,
    action: 'events.archive',
    subjectId: archive.location,
    reason,
    details: { before, keep, replace },
  });
}
