/** The filters of licenses. Each query for candidates is answered by one index, which its order names. */
import type { Filter } from '#server/db/bounded-list.ts';
import { condition, type Condition } from '#server/db/list.ts';

import { statusCondition, usableCondition } from '../../licenses/rules/status-sql.ts';
import { GRACE_DAYS, type LicenseStatus } from '../../licenses/rules/status.ts';

const NOW = '?::timestamptz';
const DAY_MS = 86_400_000;

/** The order by end, as the list and the index licenses_by_expiry have it. */
const END = `coalesce(expires_at, 'infinity')`;

const select = (rest: string): Condition => condition(`select id from licenses where ${rest}`);

/** The license has this status now. */
export function hasStatus(status: LicenseStatus, now: Date): Filter {
  const sql = statusCondition(status, NOW);
  return { ...condition(sql, ...parametersOf(sql, now)), ...STATUS_PLANS[status](now) };
}

type Plan = Pick<Filter, 'bounds' | 'candidates' | 'isExact' | 'isNear' | 'ordered'>;

/** A condition that has an index of its own in the order of creation. */
function inOrderOfCreation(sql: string): Plan {
  const candidates = select(`${sql} order by created_at, id`);
  return { candidates, ordered: { created_at: condition(sql) } };
}

/** Where the licenses of a status are. */
const STATUS_PLANS: Readonly<Record<LicenseStatus, (now: Date) => Plan>> = {
  revoked: () => ({ ...inOrderOfCreation('revoked_at is not null'), isExact: true }),
  refunded: () => inOrderOfCreation('refunded_at is not null'),
  suspended: () => inOrderOfCreation('(suspended_at is not null or disputed_at is not null)'),
  paused: (now) => ({ candidates: endOf('paused_at', now) }),
  canceled: (now) => ({ candidates: endOf('canceled_at', now) }),
  expired: (now) => endsWithin(condition(`${END} <= ${NOW}`, now)),
  past_due: (now) => {
    const grace = new Date(now.getTime() - GRACE_DAYS * DAY_MS);
    return endsWithin(condition(`${END} > ${NOW} and ${END} <= ${NOW}`, grace, now));
  },
  active: (now) => endsWithin(condition(`${END} > ${NOW}`, now)),
};

/** Those with a time in the past. */
function endOf(column: 'canceled_at' | 'paused_at', now: Date): Condition {
  const sql = `select id from licenses where ${column} <= ${NOW} order by ${column}, id`;
  return condition(sql, now);
}

/** Those whose end is in a range. */
function endsWithin(range: Condition): Plan {
  const candidates = `select id from licenses where ${range.sql} order by ${END}, id`;
  return {
    candidates: condition(candidates, ...range.parameters),
    // Those that end at the same time were mostly created at the same time.
    isNear: true,
    bounds: { expires_at: range },
  };
}

/** The license is active and ends before a time. */
export function endsBefore(before: Date, now: Date): Filter {
  const active = statusCondition('active', NOW);
  const range = condition(`${END} > ${NOW} and ${END} <= ${NOW}`, now, before);
  return {
    ...condition(`${range.sql} and ${active}`, ...range.parameters, ...parametersOf(active, now)),
    ...endsWithin(range),
  };
}

function parametersOf(sql: string, value: Date): Date[] {
  return Array.from(sql.matchAll(/\?/g), () => value);
}

/** A range of one value, because PostgreSQL ignores a constant in an order and could choose another index. */
function hasText(column: 'product_id' | 'tier', text: string): Filter {
  const candidates = `select id from licenses where ${column} >= ? and ${column} <= ? order by ${column}, id`;
  return {
    ...condition(`${column} = ?`, text),
    candidates: condition(candidates, text, text),
    isExact: true,
  };
}

export const isOfProduct = (id: string): Filter => hasText('product_id', id);

export const isOfTier = (tier: string): Filter => hasText('tier', tier);

export const isTrial = (trial: boolean): Filter =>
  trial
    ? { ...condition('trial'), ...inOrderOfCreation('trial'), isExact: true }
    : condition('not trial');

/** A test purchase created it. */
export const isTest = (test: boolean): Filter =>
  test
    ? { ...condition('is_test'), candidates: select('is_test order by id'), isExact: true }
    : condition('not is_test');

export function isOfCustomer(email: string): Filter {
  const sql = 'lower(customer_email) = ?';
  const candidates = condition(`select id from licenses where ${sql}`, email.toLowerCase());
  return { ...condition(sql, email.toLowerCase()), candidates, isExact: true };
}

export const isAnyOf = (ids: readonly string[]): Filter => ({
  ...condition('l.id = any (?::uuid[])', ids),
  candidates: condition('select unnest(?::uuid[])', ids),
  isExact: true,
});

/** The roll-up has it, and the facts still say so: the roll-up is seconds old. */
function isInRollup(rollup: Condition, order: string, facts: Condition): Filter {
  const { parameters, sql } = rollup;
  return {
    ...condition(
      `exists (select from license_activity where license_id = l.id and ${sql}) and ${facts.sql}`,
      ...parameters,
      ...facts.parameters,
    ),
    candidates: condition(
      `select license_id from license_activity where ${sql} order by ${order}`,
      ...parameters,
    ),
  };
}

/** No machine is free. */
export const isAtLimit = (): Filter =>
  isInRollup(
    condition('is_full'),
    'license_id',
    condition(
      '(select count(*) from activations where license_id = l.id and deactivated_at is null) >= l.max_activations',
    ),
  );

/** No machine was ever activated. */
export const isNeverActivated = (): Filter =>
  isInRollup(
    condition('last_seen_at is null'),
    'license_id',
    condition('not exists (select from activations where license_id = l.id)'),
  );

/** Usable, and no machine validated since a time. The roll-up never names a later time than the last validation. */
export function isSilentSince(since: Date, now: Date): Filter {
  const sql = usableCondition(NOW);
  const facts = condition(
    `not exists (select from activations where license_id = l.id and last_validated_at >= ${NOW}) and ${sql}`,
    since,
    ...parametersOf(sql, now),
  );
  const seen = condition(`last_seen_at < ${NOW}`, since);
  return {
    ...isInRollup(seen, 'last_seen_at, license_id', facts),
    bounds: { created_at: condition(`l.created_at < ${NOW}`, since) },
  };
}

/** Requests with its key were refused since a day. @param reason null: any */
export function wasRefusedSince(day: string, reason: string | null): Filter {
  const sql = `day >= ?::date ${reason === null ? '' : 'and reason = ?'}`;
  const parameters = reason === null ? [day] : [day, reason];
  return {
    ...condition(
      `exists (select from license_refusals where license_id = l.id and ${sql})`,
      ...parameters,
    ),
    candidates: condition(
      `select license_id from license_refusals where ${sql} order by day, reason, license_id`,
      ...parameters,
    ),
    isExact: true,
  };
}

const startsWith = (column: string): string =>
  `(select id from licenses where lower(${column}) like ? order by lower(${column}) using ~<~)`;

/** The beginning of the customer's address or name, the last characters of the key, or one of the ids. */
export function matchesText(text: string, ids: readonly string[]): Filter {
  const beginning = `${text.toLowerCase().replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`;
  const parameters = [beginning, beginning, [text, text.toUpperCase()], ids];
  return {
    ...condition(
      `lower(customer_email) like ? or lower(customer_name) like ? or key_hint = any (?::text[]) or l.id = any (?::uuid[])`,
      ...parameters,
    ),
    candidates: condition(
      `${startsWith('customer_email')} union all ${startsWith('customer_name')}
       union all (select id from licenses where key_hint = any (?::text[])) union all select unnest(?::uuid[])`,
      ...parameters,
    ),
    isExact: true,
  };
}
