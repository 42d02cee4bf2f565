import type { LicenseStatusFacts } from './facts.ts';

/** The statuses of a license, highest precedence first. */
export const LICENSE_STATUSES = [
  'revoked',
  'refunded',
  'suspended',
  'paused',
  'canceled',
  'expired',
  'past_due',
  'active',
] as const;

export type LicenseStatus = (typeof LICENSE_STATUSES)[number];

/** A status with which the software may run. */
export type UsableStatus = 'active' | 'past_due';

/** A status with which the software may not run. */
export type RefusedStatus = Exclude<LicenseStatus, UsableStatus>;

const DAY_MS = 86_400_000;

/** How long a subscription stays usable after the end of the paid period. */
export const GRACE_DAYS = 14;

/**
 * Returns the status of a license at a time. A revocation, refund, suspension or dispute takes effect as soon as it is
 * stored; a pause or cancellation takes effect at its own time.
 */
export function licenseStatus(facts: LicenseStatusFacts, now: Date): LicenseStatus {
  if (facts.revokedAt !== null) return 'revoked';
  if (facts.refundedAt !== null) return 'refunded';
  if (facts.suspendedAt !== null || facts.disputedAt !== null) return 'suspended';
  if (isReached(facts.pausedAt, now)) return 'paused';
  if (isReached(facts.canceledAt, now)) return 'canceled';
  if (!isReached(facts.expiresAt, now)) return 'active';
  return isReached(endOfGrace(facts), now) ? 'expired' : 'past_due';
}

/** Returns whether the software may run: true for `active` and `past_due`. */
export function isUsable(status: LicenseStatus): status is UsableStatus {
  return status === 'active' || status === 'past_due';
}

/**
 * Returns when a usable license stops being usable if nothing changes, grace included; null when it never does. An offline
 * token must not outlive this.
 */
export function usableUntil(facts: LicenseStatusFacts): Date | null {
  return earliest(facts.pausedAt, facts.canceledAt, endOfGrace(facts));
}

/**
 * Returns the `expires_at` of responses: the end of the paid period (also while past due), for a paused license the time
 * of the pause, for a canceled one the time of the cancellation; null is perpetual.
 */
export function publicExpiry(facts: LicenseStatusFacts, now: Date): Date | null {
  const status = licenseStatus(facts, now);
  if (status === 'paused') return facts.pausedAt;
  if (status === 'canceled') return facts.canceledAt;
  return earliest(facts.canceledAt, facts.expiresAt);
}

/** Returns the days left, rounded up; 0 after the end, null for perpetual. */
export function daysUntilExpiry(expiresAt: Date | null, now: Date): number | null {
  if (expiresAt === null) return null;
  return Math.max(0, Math.ceil((expiresAt.getTime() - now.getTime()) / DAY_MS));
}

/**
 * Returns the end of a subscription's grace period after the paid period, so that a late webhook does not lock customers
 * out. Fixed terms and trials have none. A scheduled cancellation ends it, because no payment follows.
 */
function endOfGrace(facts: LicenseStatusFacts): Date | null {
  const { expiresAt, cancelScheduledFor } = facts;
  if (expiresAt === null || !facts.subscription || facts.trial) return expiresAt;
  const grace = new Date(expiresAt.getTime() + GRACE_DAYS * DAY_MS);
  if (cancelScheduledFor === null || cancelScheduledFor >= grace) return grace;
  return cancelScheduledFor > expiresAt ? cancelScheduledFor : expiresAt;
}

function isReached(date: Date | null, now: Date): boolean {
  return date !== null && date.getTime() <= now.getTime();
}

function earliest(...dates: (Date | null)[]): Date | null {
  let first: Date | null = null;
  for (const date of dates) {
    if (date !== null && (first === null || date < first)) first = date;
  }
  return first;
}
