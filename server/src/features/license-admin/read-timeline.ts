import { LICENSE_TIMELINE_KINDS, type LicenseTimelineItem } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { ListPosition, Page, PageRequest } from '#server/db/list.ts';
import { InvalidPositionError, readAllPages } from '#server/db/list.ts';
import { licenseNotFound } from '#server/errors.ts';

import { recordAccess } from '../audit/record-access.ts';
import { findLicense } from '../licenses/queries/licenses.ts';
import type { LicenseAdminDependencies } from './describe-license.ts';
import { listTimeline, type TimelineRow } from './queries/timeline.ts';

type TimelineKind = LicenseTimelineItem['kind'];

/**
 * Reads one page of what happened to a license, newest first: audit entries, payment events, mails, machines, refusals
 * and outgoing webhooks in one list.
 * @throws licenseNotFound, InvalidPositionError
 */
export async function readTimeline(
  { pool }: { readonly pool: Pool },
  licenseId: string,
  kind: TimelineKind | null,
  { after, limit }: Pick<PageRequest, 'after' | 'limit'>,
): Promise<Page<LicenseTimelineItem>> {
  if ((await findLicense(pool, licenseId)) === null) throw licenseNotFound();
  if (after !== null && Number.isNaN(Date.parse(toIso(after)))) throw new InvalidPositionError();
  // One more than the page shows whether there is another page.
  const found = await listTimeline(pool, licenseId, { after, kind, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return {
    rows: rows.map(viewItem),
    next: last === undefined ? null : { value: last.position, id: last.key },
  };
}

const NEWEST_FIRST = { sort: 'occurred_at', descending: true };

/** Reads all that happened to a license, or one kind of it, newest first, after an audit entry. @throws licenseNotFound */
export async function exportTimeline(
  deps: Pick<LicenseAdminDependencies, 'clock' | 'databaseLimiter' | 'pool'>,
  licenseId: string,
  kind: TimelineKind | null,
  actor: string,
): Promise<AsyncIterable<LicenseTimelineItem>> {
  if ((await findLicense(deps.pool, licenseId)) === null) throw licenseNotFound();
  await recordAccess(deps, {
    actor,
    action: 'license.export_timeline',
    subjectId: licenseId,
    reason: null,
    details: { kind },
  });
  return readAllPages(deps.databaseLimiter, NEWEST_FIRST, (request) =>
    readTimeline(deps, licenseId, kind, request),
  );
}

function toIso({ value }: ListPosition): string {
  return value.replace(' ', 'T').replace(/([+-]\d\d)$/u, '$1:00');
}

function viewItem(row: TimelineRow): LicenseTimelineItem {
  const { key, kind, code, occurredAt, actor, reason, details } = row;
  return {
    id: key,
    occurred_at: occurredAt.toISOString(),
    kind: readKind(kind),
    code,
    actor,
    reason,
    details,
  };
}

function readKind(kind: string): TimelineKind {
  const known = LICENSE_TIMELINE_KINDS.find((each) => each === kind);
  if (known === undefined) throw new Error(`the timeline has an item of the kind ${kind}`);
  return known;
}
