import type { AuditEntry, auditEntries } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Page } from '#server/db/list.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';

import { selectFrom, type ListSource, type Selection } from '../lists/list-source.ts';
import {
  auditList,
  containsWords,
  findEntryPosition,
  isAboutSubject,
  isAction,
  isBefore,
  isByActor,
  isSince,
  type StoredAuditEntry,
} from './queries/list.ts';

export type { StoredAuditEntry } from './queries/list.ts';

interface Dependencies {
  readonly pool: Pool;
}

const FILTERS = {
  since: (time: string) => isSince(readTimeFilter('query', 'since', time)),
  until: (time: string) => isBefore(readTimeFilter('query', 'until', time)),
  actor: (name: string) => (name === '' ? null : isByActor(name)),
  action: (name: string) => (name === '' ? null : isAction(name)),
  subject_id: (id: string) => (id === '' ? null : isAboutSubject(id)),
  search: containsWords,
};

/** Where the list of audit entries comes from. */
export function auditSource(deps: Dependencies): ListSource<typeof auditEntries, StoredAuditEntry> {
  return { read: selectFrom(deps, auditList, FILTERS), view: viewEntry };
}

function viewEntry(entry: StoredAuditEntry): AuditEntry {
  return {
    id: entry.id,
    sequence: entry.sequence,
    occurred_at: entry.occurredAt.toISOString(),
    actor: entry.actor,
    action: entry.action,
    subject_id: entry.subjectId,
    reason: entry.reason,
    details: entry.details,
    hash: entry.hash,
  };
}

/**
 * Lists the newest entries.
 * @param afterId the last entry of the previous page; null: the first page
 * @returns null when there is no entry `afterId`
 */
export async function listNewestEntries(
  deps: Dependencies,
  selection: Selection<typeof auditEntries>,
  afterId: string | null,
  limit: number,
): Promise<Page<StoredAuditEntry> | null> {
  const after = afterId === null ? null : await findEntryPosition(deps.pool, afterId);
  if (afterId !== null && after === null) return null;
  const read = auditSource(deps).read(selection, new Date(0));
  return read({ sort: 'occurred_at', descending: true, after, limit });
}
