import {
  columnsOf,
  defineStatement,
  queryRows,
  type Parameter,
  type Queryable,
  type Statement,
} from '#server/db/statement.ts';

import { type LicenseStatus, GRACE_DAYS } from '../rules/status.ts';
import { LicenseRow, type LicenseRecord } from './licenses.ts';

/** A filter of licenses; null: any. */
export interface LicenseFilter {
  /** The customer's address, in any case. */
  readonly email: string | null;
  /** The product's id in the catalogue. */
  readonly productId: string | null;
  readonly status: LicenseStatus | null;
  /** Active now, with an end before this time. */
  readonly expiringBefore: Date | null;
  /** The id of a checkout. */
  readonly transactionId: string | null;
}

/** A page of a list, newest first. */
export interface ListPage {
  /** The id of the last license of the previous page; null: the first page. */
  readonly afterId: string | null;
  readonly limit: number;
}

/** A condition of a filter, with its parameter. */
interface Condition {
  readonly name: string;
  /** @param parameter such as `$3` */
  readonly text: (parameter: string) => string;
  readonly value: Parameter;
}

/** By name; few, one for each combination of filters. */
const statements = new Map<string, Statement<typeof LicenseRow>>();

/**
 * Lists a page of licenses by a filter, newest first. Each combination of filters is a statement of its own, so that it can
 * use its index; nullable parameters would prevent that in a prepared statement.
 */
export async function listLicensePage(
  db: Queryable,
  filter: LicenseFilter,
  { afterId, limit }: ListPage,
  now: Date,
): Promise<LicenseRecord[]> {
  const conditions = listConditions(filter, afterId);
  const values = conditions.map(({ value }) => value);
  return queryRows(db, prepare(filter.status, conditions), [now, limit, ...values]);
}

function listConditions(filter: LicenseFilter, afterId: string | null): Condition[] {
  const { email, productId, expiringBefore, transactionId } = filter;
  const all = [
    { name: 'email', value: email?.toLowerCase() ?? null, text: isCustomer },
    { name: 'product', value: productId, text: (p: string) => `product_id = ${p}` },
    { name: 'expiring', value: expiringBefore, text: isExpiring },
    { name: 'transaction', value: transactionId, text: isOfTransaction },
    { name: 'after', value: afterId, text: (p: string) => `id < ${p}::uuid` },
  ];
  return all.filter(({ value }) => value !== null);
}

/** The present time: the first parameter of every statement of this file. */
const NOW = '$1::timestamptz';

const isCustomer = (p: string): string => `lower(customer_email) = ${p}::text`;

const isExpiring = (p: string): string =>
  `(expires_at <= ${p}::timestamptz or canceled_at <= ${p}::timestamptz) and ${statusCondition('active', NOW)}`;

const isOfTransaction = (p: string): string =>
  `id in (select license_id from license_transactions where transaction_id = ${p}::text)`;

function prepare(
  status: LicenseStatus | null,
  conditions: readonly Condition[],
): Statement<typeof LicenseRow> {
  const name = ['license_list', status ?? 'any', ...conditions.map((each) => each.name)].join('_');
  const known = statements.get(name);
  if (known !== undefined) return known;
  const texts = conditions.map(({ text }, index) => text(`$${index + 3}`));
  const wanted = status === null ? texts : [statusCondition(status, NOW), ...texts];
  // The first condition is always true: not every combination uses the time, and PostgreSQL must know its type.
  const statement = defineStatement(
    name,
    LicenseRow,
    `select ${columnsOf(LicenseRow)} from licenses
     where $1::timestamptz is not null ${wanted.map((text) => `and ${text}`).join(' ')}
     order by id desc
     limit $2`,
  );
  statements.set(name, statement);
  return statement;
}

const NOT_STOPPED = 'num_nonnulls(revoked_at, refunded_at, suspended_at, disputed_at) = 0';

/** In hours, because the length of a day depends on the time zone of the session. */
const GRACE = `interval '${GRACE_DAYS * 24} hours'`;
const END_OF_GRACE = `case
  when not subscription or trial then expires_at
  when cancel_scheduled_for is null or cancel_scheduled_for >= expires_at + ${GRACE} then expires_at + ${GRACE}
  else greatest(cancel_scheduled_for, expires_at)
end`;

/**
 * Returns the SQL condition of a status that `licenseStatus` returns, over the columns of `licenses`. Exactly one is true for
 * each license. A test compares them with the rule.
 * @param now the present time in SQL, such as `$1::timestamptz`
 */
export function statusCondition(status: LicenseStatus, now: string): string {
  const notPaused = `(paused_at is null or paused_at > ${now})`;
  const running = `${NOT_STOPPED} and ${notPaused} and (canceled_at is null or canceled_at > ${now})`;
  const conditions: Readonly<Record<LicenseStatus, string>> = {
    revoked: 'revoked_at is not null',
    refunded: 'revoked_at is null and refunded_at is not null',
    suspended:
      'revoked_at is null and refunded_at is null and (suspended_at is not null or disputed_at is not null)',
    paused: `${NOT_STOPPED} and paused_at <= ${now}`,
    canceled: `${NOT_STOPPED} and ${notPaused} and canceled_at <= ${now}`,
    expired: `${running} and expires_at <= ${now} and ${END_OF_GRACE} <= ${now}`,
    // The first three conditions follow from the others; an index answers them.
    past_due: `subscription and not trial and expires_at > ${now} - ${GRACE}
      and ${running} and expires_at <= ${now} and ${END_OF_GRACE} > ${now}`,
    active: `${running} and (expires_at is null or expires_at > ${now})`,
  };
  return conditions[status];
}
