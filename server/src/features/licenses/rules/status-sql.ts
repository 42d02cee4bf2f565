/**
 * The rule of a license's status in SQL, over the columns of `licenses`. `licenseStatus` is the rule; a test compares every
 * fragment with it for all combinations of facts at every boundary. `countStatement` of `validations.ts` has a shorter
 * condition, for speed.
 */
import { GRACE_DAYS, type LicenseStatus } from './status.ts';

/** In hours, because the length of a day depends on the time zone of the session. */
const GRACE = `interval '${GRACE_DAYS * 24} hours'`;

/** What takes effect as soon as it is stored. */
const AT_ONCE = 'revoked_at, refunded_at, suspended_at, disputed_at';

/** Neither revoked, refunded, suspended nor disputed. */
export const NOT_STOPPED = `num_nonnulls(${AT_ONCE}) = 0`;

/** The end of the paid period with its grace; null: none. The index of `expires_at` does not answer conditions on it. */
const END_OF_GRACE = `case
  when expires_at is null or not subscription or trial then expires_at
  when cancel_scheduled_for is null or cancel_scheduled_for >= expires_at + ${GRACE} then expires_at + ${GRACE}
  else greatest(cancel_scheduled_for, expires_at)
end`;

/** When a license stopped being usable, or stops if nothing changes: the first end of any kind; null: never. */
export const USABLE_UNTIL = `least(${AT_ONCE}, paused_at, canceled_at, ${END_OF_GRACE})`;

/**
 * Returns the condition of a status. Exactly one is true for each license.
 * @param now the current time in SQL, such as `$1::timestamptz`
 */
export function statusCondition(status: LicenseStatus, now: string): string {
  const running = runningCondition(now);
  const conditions: Readonly<Record<LicenseStatus, string>> = {
    revoked: 'revoked_at is not null',
    refunded: 'revoked_at is null and refunded_at is not null',
    suspended:
      'revoked_at is null and refunded_at is null and (suspended_at is not null or disputed_at is not null)',
    paused: `${NOT_STOPPED} and paused_at <= ${now}`,
    canceled: `${NOT_STOPPED} and ${notReached('paused_at', now)} and canceled_at <= ${now}`,
    expired: `${running} and expires_at <= ${now} and ${END_OF_GRACE} <= ${now}`,
    // The first three conditions follow from the others; an index answers them.
    past_due: `subscription and not trial and expires_at > ${now} - ${GRACE}
      and ${running} and expires_at <= ${now} and ${END_OF_GRACE} > ${now}`,
    active: `${running} and ${notReached('expires_at', now)}`,
  };
  return conditions[status];
}

/**
 * Returns the condition of `isUsable`: the status is `active` or `past_due`. It is never null, so that it can be negated.
 * @param now the current time in SQL
 */
export function usableCondition(now: string): string {
  return `${runningCondition(now)} and (expires_at is null or ${END_OF_GRACE} > ${now})`;
}

/** The license is neither stopped, paused nor canceled. */
function runningCondition(now: string): string {
  return `${NOT_STOPPED} and ${notReached('paused_at', now)} and ${notReached('canceled_at', now)}`;
}

function notReached(column: string, now: string): string {
  return `(${column} is null or ${column} > ${now})`;
}

/** Times at which the status may change without a change of the license: a column of an index, and how long after it. */
export interface TransitionSource {
  readonly column: string;
  /** An interval in SQL; null: at the time of the column. */
  readonly delay: string | null;
  /** The condition of the partial index; null: none but that the column is not null. */
  readonly only: string | null;
}

/** Every time at which `licenseStatus` returns another status is one of these. */
export const TRANSITION_SOURCES: readonly TransitionSource[] = [
  { column: 'expires_at', delay: null, only: null },
  { column: 'expires_at', delay: GRACE, only: 'subscription' },
  { column: 'cancel_scheduled_for', delay: null, only: 'subscription' },
  { column: 'canceled_at', delay: null, only: null },
  { column: 'paused_at', delay: null, only: null },
];
