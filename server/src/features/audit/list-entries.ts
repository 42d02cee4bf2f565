import type { AuditRowsQuery } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import {
  queryAllPages,
  queryPage,
  type Condition,
  type ListOrder,
  type Page,
  type PageRequest,
} from '#server/db/list.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';

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
import { recordAccess } from './record-access.ts';

export type { StoredAuditEntry } from './queries/list.ts';

export interface AuditDependencies {
  readonly clock: Clock;
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly pool: Pool;
}

/** Which entries; without a filter: any. */
export interface EntryFilters {
  /** Inclusive. */
  readonly since?: Date | undefined;
  /** Exclusive. */
  readonly until?: Date | undefined;
  /** An account from any source (`anna`), or from one (`sudo:anna`). */
  readonly actor?: string | undefined;
  /** An action (`license.reveal`), or all actions of a noun (`license`). */
  readonly action?: string | undefined;
  /** The id of a license, subscriber or other subject; one of a previous master secret also finds later entries. */
  readonly subjectId?: string | undefined;
  /** The beginnings of words. */
  readonly search?: string | undefined;
}

type Query = Omit<AuditRowsQuery, 'sort'>;

/** @throws InvalidRequestError (422) for a time that is not one */
function readFilters({ since, until, subject_id: subjectId, ...rest }: Query): EntryFilters {
  return {
    ...rest,
    since: readTimeFilter('query', 'since', since),
    until: readTimeFilter('query', 'until', until),
    subjectId,
  };
}

function toConditions(filters: EntryFilters): Condition[] {
  const { since, until, actor = '', action = '', subjectId = '', search = '' } = filters;
  const words = containsWords(search);
  return [
    ...(since === undefined ? [] : [isSince(since)]),
    ...(until === undefined ? [] : [isBefore(until)]),
    ...(actor === '' ? [] : [isByActor(actor)]),
    ...(action === '' ? [] : [isAction(action)]),
    ...(subjectId === '' ? [] : [isAboutSubject(subjectId)]),
    ...(words === null ? [] : [words]),
  ];
}

/** Lists a page of the audit log. */
export function listEntryPage(
  { pool }: Pick<AuditDependencies, 'pool'>,
  query: Query,
  request: PageRequest,
): Promise<Page<StoredAuditEntry>> {
  return queryPage(pool, auditList, request, toConditions(readFilters(query)));
}

const NEWEST_FIRST: ListOrder = { sort: 'occurred_at', descending: true };

/**
 * Lists the newest entries.
 * @param afterId the last entry of the previous page; null: the first page
 * @returns null when there is no entry `afterId`
 */
export async function listNewestEntries(
  { pool }: Pick<AuditDependencies, 'pool'>,
  filters: EntryFilters,
  afterId: string | null,
  limit: number,
): Promise<Page<StoredAuditEntry> | null> {
  const after = afterId === null ? null : await findEntryPosition(pool, afterId);
  if (afterId !== null && after === null) return null;
  const request = { ...NEWEST_FIRST, after, limit };
  return queryPage(pool, auditList, request, toConditions(filters));
}

/** Exports entries of the audit log, which records that as well. */
export async function exportEntries(
  deps: AuditDependencies,
  query: Query,
  order: ListOrder,
  actor: string,
): Promise<AsyncIterable<StoredAuditEntry>> {
  const conditions = toConditions(readFilters(query));
  const entry = { actor, action: 'audit.export', subjectId: '*', reason: null, details: {} };
  await recordAccess(deps, entry);
  return queryAllPages(deps, auditList, order, conditions);
}
