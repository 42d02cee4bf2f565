import type { LicenseStanding } from './facts.ts';

/** Every status a known license can have, the strongest first. */
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

/** A status that lets the software run. */
export type UsableStatus = 'active' | 'past_due';

/** A status that does not. */
export type RefusedStatus = Exclude<LicenseStatus, UsableStatus>;

const DAY_MS = 86_400_000;

/** How long a subscription keeps working after the end of what was paid. */
export const GRACE_DAYS = 14;

/**
 * The status of a license at a moment.
 * A revocation, refund, suspension or dispute counts as soon as it is known; a pause or cancellation from its own moment on.
 */
export function licenseStatus(facts: LicenseStanding, now: Date): LicenseStatus {
  if (facts.revokedAt !== null) return 'revoked';
  if (facts.refundedAt !== null) return 'refunded';
  if (facts.suspendedAt !== null || facts.disputedAt !== null) return 'suspended';
  if (hasCome(facts.pausedAt, now)) return 'paused';
  if (hasCome(facts.canceledAt, now)) return 'canceled';
  if (!hasCome(facts.expiresAt, now)) return 'active';
  return hasCome(endOfGrace(facts), now) ? 'expired' : 'past_due';
}

/** Whether the software may run: true for `active` and `past_due`. */
export function isUsable(status: LicenseStatus): status is UsableStatus {
  return status === 'active' || status === 'past_due';
}

/**
 * The moment at which a usable license stops being usable if nothing changes, grace included; null when it never does.
 * An offline token must not live longer than this.
 */
export function usableUntil(facts: LicenseStanding): Date | null {
  return earliest(facts.pausedAt, facts.canceledAt, endOfGrace(facts));
}

/**
 * What is told as `expires_at`: the end of what was paid (also while past due), for a paused license the moment of the
 * pause, for a canceled one the moment of the cancellation; null is perpetual.
 */
export function publicExpiry(facts: LicenseStanding, now: Date): Date | null {
  const status = licenseStatus(facts, now);
  if (status === 'paused') return facts.pausedAt;
  if (status === 'canceled') return facts.canceledAt;
  return earliest(facts.canceledAt, facts.expiresAt);
}

/** Whole days left, where a part of a day counts as one; 0 once over, null for perpetual. */
export function daysUntilExpiry(expiresAt: Date | null, now: Date): number | null {
  if (expiresAt === null) return null;
  return Math.max(0, Math.ceil((expiresAt.getTime() - now.getTime()) / DAY_MS));
}

/**
 * The end of the grace that a subscription has after the end of what was paid: a late webhook then locks nobody out.
 * Fixed terms and trials have none. Where a cancellation is announced, nothing more is going to be paid after it.
 */
function endOfGrace(facts: LicenseStanding): Date | null {
  const { expiresAt, cancelScheduledFor } = facts;
  if (expiresAt === null || !facts.subscription || facts.trial) return expiresAt;
  const grace = new Date(expiresAt.getTime() + GRACE_DAYS * DAY_MS);
  if (cancelScheduledFor === null || cancelScheduledFor >= grace) return grace;
  return cancelScheduledFor > expiresAt ? cancelScheduledFor : expiresAt;
}

function hasCome(moment: Date | null, now: Date): boolean {
  return moment !== null && moment.getTime() <= now.getTime();
}

function earliest(...moments: (Date | null)[]): Date | null {
  let first: Date | null = null;
  for (const moment of moments) {
    if (moment !== null && (first === null || moment < first)) first = moment;
  }
  return first;
}
