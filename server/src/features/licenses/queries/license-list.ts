import {
  columnsOf,
  defineStatement,
  queryRows,
  type Parameter,
  type Queryable,
  type Statement,
} from '#server/db/statement.ts';

import type { LicenseStatus } from '../rules/status.ts';
import { LicenseRow, type LicenseRecord } from './licenses.ts';
import { statusCondition } from '../rules/status-sql.ts';

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
