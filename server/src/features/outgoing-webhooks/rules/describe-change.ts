import type { LicenseStanding } from '../../licenses/rules/facts.ts';
import { licenseStatus } from '../../licenses/rules/status.ts';
import type { EventDetails, EventType } from './payload.ts';

/** An event that a change of a license makes. */
interface ChangeEvent {
  readonly type: EventType;
  readonly details: EventDetails;
}

/**
 * What there is to tell of a license that was changed; nothing when neither its status nor its end is another.
 * A later end is a renewal. An earlier one, without a change of the status, is told as a change of it all the same, since
 * a receiver that remembers the end would be wrong.
 * @param before null for a license that was not there
 */
export function describeChange(
  before: LicenseStanding | null,
  after: LicenseStanding,
  now: Date,
): ChangeEvent[] {
  if (before === null) return [{ type: 'license.created', details: {} }];
  const events: ChangeEvent[] = [];
  const moved = endOf(after) - endOf(before);
  const end = { previous_expires_at: before.expiresAt?.toISOString() ?? null };
  if (moved > 0) events.push({ type: 'license.renewed', details: end });
  const previous = licenseStatus(before, now);
  const status = licenseStatus(after, now);
  if (status !== previous || moved < 0) {
    const details = { previous_status: previous, ...(moved < 0 ? end : {}) };
    events.push({ type: eventOfStatus(status, previous), details });
  }
  return events;
}

/** What there is to tell of a license at a moment at which its status may have changed by time alone. */
export function describeTransition(license: LicenseStanding, moment: Date): ChangeEvent | null {
  const previous = licenseStatus(license, new Date(moment.getTime() - 1));
  const status = licenseStatus(license, moment);
  if (status === previous) return null;
  return { type: eventOfStatus(status, previous), details: { previous_status: previous } };
}

function eventOfStatus(status: string, previous: string): EventType {
  return status === 'expired' && previous !== 'expired'
    ? 'license.expired'
    : 'license.status_changed';
}

/** Perpetual is later than any end. */
function endOf({ expiresAt }: LicenseStanding): number {
  return expiresAt?.getTime() ?? Number.MAX_SAFE_INTEGER;
}
