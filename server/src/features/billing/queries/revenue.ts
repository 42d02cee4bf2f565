/** Statements of the roll-up of revenue. */
import { Type } from 'typebox';
import { Compile } from 'typebox/schema';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

import {
  MEASURES,
  type Measure,
  type RevenueEntry,
  type RevenueSum,
} from '../rules/revenue/measures.ts';
import type { TransactionKey } from './purchases.ts';

const lockStatement = defineCommand(
  'billing_revenue_lock',
  `select pg_advisory_xact_lock(hashtextextended('latchkey revenue', 0)),
          set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
          set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`,
);

/** Acquires the lock of the roll-up until the transaction ends; its statements use index look-ups only, as those of billing. */
export async function lockRevenue(db: Queryable): Promise<void> {
  await execute(db, lockStatement);
}

const listEntriesStatement = defineStatement(
  'billing_revenue_list_entries',
  Type.Object({ provider: Type.String(), transactionId: Type.String(), entries: Type.String() }),
  `select stored.provider, stored.transaction_id as "transactionId", stored.entries
   from unnest($1::text[], $2::text[]) as wanted (provider, transaction_id)
   join billing_revenue stored on stored.transaction_id = wanted.transaction_id and stored.provider = wanted.provider`,
);

/** The stored entries of a transaction, as JSON. */
export interface StoredRevenue {
  readonly provider: string;
  readonly transactionId: string;
  readonly entries: string;
}

/** Lists what transactions add to revenue now. */
export async function listStoredRevenue(
  db: Queryable,
  transactions: readonly TransactionKey[],
): Promise<StoredRevenue[]> {
  return queryRows(
    db,
    listEntriesStatement,
    toColumns(transactions, ['provider', 'transactionId']),
  );
}

const upsertEntriesStatement = defineCommand(
  'billing_revenue_upsert',
  `insert into billing_revenue (provider, transaction_id, entries)
   select * from unnest($1::text[], $2::text[], $3::text[])
   on conflict (transaction_id, provider) do update set entries = excluded.entries`,
);

/** Stores what transactions add to revenue. One that adds nothing is stored too: its purchase is counted. */
export async function storeRevenue(db: Queryable, rows: readonly StoredRevenue[]): Promise<void> {
  await execute(
    db,
    upsertEntriesStatement,
    toColumns(rows, ['provider', 'transactionId', 'entries']),
  );
}

const RECURRING = MEASURES.filter(
  (name) => name.startsWith('mrr') || name.startsWith('subscriptions'),
);

function toColumn(measure: Measure): string {
  return measure.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
}

const KEYS = ['provider', 'product_id', 'country', 'currency'];

function unnest(measures: readonly Measure[]): string {
  const numbers = measures.map((_, index) => `$${index + 6}::bigint[]`).join(', ');
  return `unnest($1::date[], $2::text[], $3::text[], $4::text[], $5::text[], ${numbers})`;
}

/** Adds to the rows that exist. @param keys the columns of the primary key */
function addOnConflict(keys: readonly string[], measures: readonly Measure[]): string {
  const names = measures.map(toColumn);
  return `on conflict (${keys.join(', ')}) do update set ${names.map((name) => `${name} = stored.${name} + excluded.${name}`).join(', ')}`;
}

const MONTH_COLUMNS = ['month', ...KEYS, ...MEASURES.map(toColumn)].join(', ');

/** The same sums to all tables of months, so that a report is equal whichever it reads. */
const addMonthsStatement = defineCommand(
  'billing_revenue_months_add',
  `with added (${MONTH_COLUMNS}) as materialized (select * from ${unnest(MEASURES)}),
   months as (
     insert into billing_revenue_months as stored (${MONTH_COLUMNS})
     select * from added ${addOnConflict(['month', ...KEYS], MEASURES)}
   )
   insert into billing_revenue_summaries as stored (divided_by, ${MONTH_COLUMNS})
   select divided_by, month, provider, case divided_by when 'product' then product_id else '' end,
          case divided_by when 'country' then country else '' end, currency, ${MEASURES.map((name) => `sum(${toColumn(name)})`).join(', ')}
   from added cross join unnest(array['', 'product', 'country']) as divided_by
   group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
   ${addOnConflict(['divided_by', 'month', ...KEYS], MEASURES)}`,
);

const addDaysStatement = defineCommand(
  'billing_revenue_days_add',
  `insert into billing_revenue_days as stored (${['day', ...KEYS, ...RECURRING.map(toColumn)].join(', ')})
   select * from ${unnest(RECURRING)} ${addOnConflict(['day', ...KEYS], RECURRING)}`,
);

/** Adds sums to the roll-ups by month. */
export async function addRevenueMonths(db: Queryable, sums: readonly RevenueSum[]): Promise<void> {
  await execute(db, addMonthsStatement, toParameters(sums, MEASURES));
}

/** Adds sums of recurring revenue to the roll-up by day. */
export async function addRevenueDays(db: Queryable, sums: readonly RevenueSum[]): Promise<void> {
  const recurring = sums.filter(({ measures }) => RECURRING.some((name) => measures[name] !== 0));
  if (recurring.length > 0) await execute(db, addDaysStatement, toParameters(recurring, RECURRING));
}

function toParameters(sums: readonly RevenueSum[], measures: readonly Measure[]) {
  const keys = sums.map(({ key }) => key);
  return [
    ...toColumns(keys, ['day', 'provider', 'productId', 'country', 'currency']),
    ...measures.map((measure) => sums.map((sum) => sum.measures[measure])),
  ];
}

const clearStatement = defineCommand(
  'billing_revenue_clear',
  'truncate billing_revenue, billing_revenue_due, billing_revenue_months, billing_revenue_summaries, billing_revenue_days',
);

/** Deletes the roll-up, to be computed anew. */
export async function clearRevenue(db: Queryable): Promise<void> {
  await execute(db, clearStatement);
}

/** Writes entries as JSON, without what the row of their transaction has. */
export function writeEntries(entries: readonly RevenueEntry[]): string {
  return JSON.stringify(
    entries.map(({ transactionId: _transaction, provider: _provider, ...entry }) => entry),
  );
}

const StoredEntries = Compile(
  Type.Array(
    Type.Object({
      day: Type.String(),
      productId: Type.String(),
      country: Type.String(),
      currency: Type.String(),
      measures: Type.Partial(Type.Record(Type.Enum(MEASURES), Type.Number())),
    }),
  ),
);

/** Reads the JSON of {@link writeEntries}. */
export function readEntries({ provider, transactionId, entries }: StoredRevenue): RevenueEntry[] {
  const parsed: unknown = JSON.parse(entries);
  if (!StoredEntries.Check(parsed)) throw new Error('a row of billing_revenue is invalid');
  return parsed.map((entry) => ({ ...entry, provider, transactionId }));
}
