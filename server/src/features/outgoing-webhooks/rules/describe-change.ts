import type { LicenseStatusFacts } from '../../licenses/rules/facts.ts';
import { licenseStatus } from '../../licenses/rules/status.ts';
import type { EventDetails, EventType } from './payload.ts';

/** The type and details of an event. */
interface ChangeEvent {
  readonly type: EventType;
  readonly details: EventDetails;
}

/**
 * Describes a change of a license; no events if neither its status nor its expiry changed. A later expiry is a renewal. An
 * earlier expiry is a status change even if the status is the same, because receivers may have stored the expiry.
 * @param before null for a new license
 */
export function describeChange(
  before: LicenseStatusFacts | null,
  after: LicenseStatusFacts,
  now: Date,
): ChangeEvent[] {
  if (before === null) return [{ type: 'license.created', details: {} }];
  const events: ChangeEvent[] = [];
  const moved = expiryOf(after) - expiryOf(before);
  const previousExpiry = { previous_expires_at: before.expiresAt?.toISOString() ?? null };
  if (moved > 0) events.push({ type: 'license.renewed', details: previousExpiry });
  const previous = licenseStatus(before, now);
  const status = licenseStatus(after, now);
  if (status !== previous || moved < 0) {
    const details = { previous_status: previous, ...(moved < 0 ? previousExpiry : {}) };
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

/** A perpetual license ends after all others. */
function expiryOf({ expiresAt }: LicenseStatusFacts): number {
  return expiresAt?.getTime() ?? Number.MAX_SAFE_INTEGER;
}
