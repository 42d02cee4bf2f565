import { GRACE_DAYS, type LicenseStatus } from '../rules/status.ts';

/** The moment of the question: the first parameter of every statement that uses these conditions. */
const NOW = '$1::timestamptz';

const NOT_STOPPED = 'num_nonnulls(revoked_at, refunded_at, suspended_at, disputed_at) = 0';
const NOT_PAUSED = `(paused_at is null or paused_at > ${NOW})`;
const RUNNING = `${NOT_STOPPED} and ${NOT_PAUSED} and (canceled_at is null or canceled_at > ${NOW})`;

/** In hours, since the length of a day depends on the time zone of the session. */
const GRACE = `interval '${GRACE_DAYS * 24} hours'`;
const END_OF_GRACE = `case
  when not subscription or trial then expires_at
  when cancel_scheduled_for is null or cancel_scheduled_for >= expires_at + ${GRACE} then expires_at + ${GRACE}
  else greatest(cancel_scheduled_for, expires_at)
end`;

/**
 * For each status the condition in SQL under which `licenseStatus` returns it, over the columns of `licenses`. Exactly one
 * holds for each license. A test holds them against the rule.
 */
export const STATUS_CONDITIONS: Readonly<Record<LicenseStatus, string>> = {
  revoked: 'revoked_at is not null',
  refunded: 'revoked_at is null and refunded_at is not null',
  suspended:
    'revoked_at is null and refunded_at is null and (suspended_at is not null or disputed_at is not null)',
  paused: `${NOT_STOPPED} and paused_at <= ${NOW}`,
  canceled: `${NOT_STOPPED} and ${NOT_PAUSED} and canceled_at <= ${NOW}`,
  expired: `${RUNNING} and expires_at <= ${NOW} and ${END_OF_GRACE} <= ${NOW}`,
  past_due: `${RUNNING} and expires_at <= ${NOW} and ${END_OF_GRACE} > ${NOW}`,
  active: `${RUNNING} and (expires_at is null or expires_at > ${NOW})`,
};
