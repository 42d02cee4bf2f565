/** Statements of the roll-up of revenue. */
import { Type } from 'typebox';
import { Compile } from 'typebox/schema';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
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
import type { LedgerReference, TransactionKey } from './purchases.ts';

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

const insertDueStatement = defineCommand(
  'billing_revenue_due_insert',
  `insert into billing_revenue_due (provider, kind, id)
   select distinct provider, kind, id from unnest($1::text[], $2::text[], $3::text[]) as due (provider, kind, id)`,
);

/** Marks purchases to be counted again. */
export async function insertRevenueDue(
  db: Queryable,
  references: readonly LedgerReference[],
): Promise<void> {
  // The details of customers are no revenue.
  const due = references.filter(({ kind }) => kind !== 'customer');
  await execute(db, insertDueStatement, toColumns(due, ['provider', 'kind', 'id']));
}

const takeDueStatement = defineStatement(
  'billing_revenue_due_take',
  Type.Object({
    provider: Type.String(),
    kind: Type.Enum(['transaction', 'subscription']),
    id: Type.String(),
  }),
  `delete from billing_revenue_due
   where due_id = any (array(select due_id from billing_revenue_due order by due_id limit $1 for update skip locked))
   returning provider, kind, id`,
);

/** Deletes and returns marks, at most `limit`. */
export async function takeRevenueDue(db: Queryable, limit: number): Promise<LedgerReference[]> {
  return queryRows(db, takeDueStatement, [limit]);
}

const countDueStatement = defineStatement(
  'billing_revenue_due_count',
  Type.Object({ due: Type.Integer() }),
  'select count(*)::integer as due from (select from billing_revenue_due limit $1) as found',
);

/** Counts the marks, up to `limit`. */
export async function countRevenueDue(db: Queryable, limit: number): Promise<number> {
  return (await queryRow(db, countDueStatement, [limit]))?.due ?? 0;
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

const deleteEntriesStatement = defineCommand(
  'billing_revenue_delete',
  `delete from billing_revenue stored using unnest($1::text[], $2::text[]) as gone (provider, transaction_id)
   where stored.transaction_id = gone.transaction_id and stored.provider = gone.provider`,
);

/** Stores what transactions add to revenue; those without entries are deleted. */
export async function storeRevenue(db: Queryable, rows: readonly StoredRevenue[]): Promise<void> {
  const kept = rows.filter(({ entries }) => entries !== '[]');
  const gone = rows.filter(({ entries }) => entries === '[]');
  if (kept.length > 0) {
    await execute(
      db,
      upsertEntriesStatement,
      toColumns(kept, ['provider', 'transactionId', 'entries']),
    );
  }
  if (gone.length > 0) {
    await execute(db, deleteEntriesStatement, toColumns(gone, ['provider', 'transactionId']));
  }
}

const RECURRING = MEASURES.filter(
  (name) => name.startsWith('mrr') || name.startsWith('subscriptions'),
);

function toColumn(measure: Measure): string {
  return measure.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
}

function defineAdd(table: string, time: string, measures: readonly Measure[]) {
  const names = measures.map(toColumn);
  const keys = `${time}, provider, product_id, country, currency`;
  const parameters = measures.map((_, index) => `$${index + 6}::bigint[]`).join(', ');
  return defineCommand(
    `${table}_add`,
    `insert into ${table} as stored (${keys}, ${names.join(', ')})
     select * from unnest($1::date[], $2::text[], $3::text[], $4::text[], $5::text[], ${parameters})
     on conflict (${keys}) do update set ${names.map((name) => `${name} = stored.${name} + excluded.${name}`).join(', ')}`,
  );
}

const addMonthsStatement = defineAdd('billing_revenue_months', 'month', MEASURES);
const addDaysStatement = defineAdd('billing_revenue_days', 'day', RECURRING);

/** Adds sums to the roll-up by month. */
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

const Backfill = Type.Object({
  transactionId: Type.String(),
  provider: Type.String(),
  counted: Type.Number(),
  finishedAt: Nullable.Timestamp,
});

const findBackfillStatement = defineStatement(
  'billing_revenue_find_backfill',
  Backfill,
  `select transaction_id as "transactionId", provider, counted::float8 as counted, finished_at as "finishedAt"
   from billing_revenue_backfill`,
);

/** How far payments from before the roll-up were counted. */
export interface RevenueBackfill extends TransactionKey {
  readonly counted: number;
  /** Null: it is not finished. */
  readonly finishedAt: Date | null;
}

/** Returns how far payments from before the roll-up were counted. */
export async function findRevenueBackfill(db: Queryable): Promise<RevenueBackfill | null> {
  return queryRow(db, findBackfillStatement);
}

const storeBackfillStatement = defineCommand(
  'billing_revenue_store_backfill',
  'update billing_revenue_backfill set transaction_id = $1, provider = $2, counted = $3, finished_at = $4',
);

export async function storeRevenueBackfill(
  db: Queryable,
  { transactionId, provider, counted, finishedAt }: RevenueBackfill,
): Promise<void> {
  await execute(db, storeBackfillStatement, [transactionId, provider, counted, finishedAt]);
}

const listPaymentsStatement = defineStatement(
  'billing_revenue_list_payments',
  Type.Object({ transactionId: Type.String(), provider: Type.String() }),
  `select distinct transaction_id as "transactionId", provider from (
     select transaction_id, provider from billing_payments
     where (transaction_id, provider) > ($1, $2) order by transaction_id, provider limit $3
   ) as page order by transaction_id, provider`,
);

/** Lists payments by id. @param after the last one of the page before */
export async function listPaymentsAfter(
  db: Queryable,
  after: TransactionKey,
  limit: number,
): Promise<TransactionKey[]> {
  return queryRows(db, listPaymentsStatement, [after.transactionId, after.provider, limit]);
}

const clearStatement = defineCommand(
  'billing_revenue_clear',
  'truncate billing_revenue, billing_revenue_due, billing_revenue_months, billing_revenue_days',
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
