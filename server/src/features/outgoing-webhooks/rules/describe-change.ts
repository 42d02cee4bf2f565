import type { LicenseStatusFacts } from '../../licenses/rules/facts.ts';
import { licenseStatus } from '../../licenses/rules/status.ts';
import type { EventDetails, EventType } from './payload.ts';

/** The type and details of an event. */
interface ChangeEvent {
  readonly type: EventType;
  readonly details: EventDetails;
}

/**
 * Describes a change of a license; no events if neither its status nor its expiry nor the end of its updates changed. A later
 * end is a renewal. An earlier end is a status change even if the status is the same, because receivers may have stored it.
 * @param before null for a new license
 */
export function describeChange(
  before: LicenseStatusFacts | null,
  after: LicenseStatusFacts,
  now: Date,
): ChangeEvent[] {
  if (before === null) return [{ type: 'license.created', details: {} }];
  const events: ChangeEvent[] = [];
  const ends = [
    {
      moved: toTime(after.expiresAt) - toTime(before.expiresAt),
      name: 'previous_expires_at',
      end: before.expiresAt,
    },
    {
      moved: toTime(after.updatesUntil) - toTime(before.updatesUntil),
      name: 'previous_updates_until',
      end: before.updatesUntil,
    },
  ];
  const list = (isListed: (moved: number) => boolean): EventDetails =>
    Object.fromEntries(
      ends
        .filter(({ moved }) => isListed(moved))
        .map(({ name, end }) => [name, end?.toISOString() ?? null]),
    );
  const later = list((moved) => moved > 0);
  const earlier = list((moved) => moved < 0);
  if (Object.keys(later).length > 0) events.push({ type: 'license.renewed', details: later });
  const previous = licenseStatus(before, now);
  const status = licenseStatus(after, now);
  if (status !== previous || Object.keys(earlier).length > 0) {
    const details = { previous_status: previous, ...earlier };
    events.push({ type: toEventType(status, previous), details });
  }
  return events;
}

/** Describes a change of the status by time alone; null if the status did not change. */
export function describeTransition(license: LicenseStatusFacts, at: Date): ChangeEvent | null {
  const previous = licenseStatus(license, new Date(at.getTime() - 1));
  const status = licenseStatus(license, at);
  if (status === previous) return null;
  return { type: toEventType(status, previous), details: { previous_status: previous } };
}

function toEventType(status: string, previous: string): EventType {
  return status === 'expired' && previous !== 'expired'
    ? 'license.expired'
    : 'license.status_changed';
}

/** What has no end ends after all others. */
function toTime(end: Date | null): number {
  return end?.getTime() ?? Number.MAX_SAFE_INTEGER;
}
