import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

import type { LedgerReference } from './purchases.ts';

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
  `with oldest as materialized (
     select distinct provider, kind, id
     from (select provider, kind, id from billing_revenue_due where due_at <= now() order by due_at limit $1) as listed
   )
   delete from billing_revenue_due due using oldest
   where due.provider = oldest.provider and due.kind = oldest.kind and due.id = oldest.id
   returning due.provider, due.kind, due.id`,
);

/**
 * Deletes and returns the oldest marks that are due, and all others of the same references. A mark from another transaction stays until that
 * commits, and the facts of it with the mark.
 * @param limit of the oldest ones
 */
export async function takeRevenueDue(db: Queryable, limit: number): Promise<LedgerReference[]> {
  return queryRows(db, takeDueStatement, [limit]);
}

const postponeDueStatement = defineCommand(
  'billing_revenue_due_postpone',
  `update billing_revenue_due due set due_at = now() + $4 * interval '1 second'
   from unnest($1::text[], $2::text[], $3::text[]) as failed (provider, kind, id)
   where due.provider = failed.provider and due.kind = failed.kind and due.id = failed.id`,
);

/** Postpones all marks of purchases. They stay as old as they are. */
export async function postponeRevenueDue(
  db: Queryable,
  references: readonly LedgerReference[],
  seconds: number,
): Promise<void> {
  const columns = toColumns(references, ['provider', 'kind', 'id']);
  await execute(db, postponeDueStatement, [...columns, seconds]);
}

const summarizeDueStatement = defineStatement(
  'billing_revenue_due_summarize',
  Type.Object({ pending: Type.Integer(), delaySeconds: Type.Number() }),
  `select (select count(*)::integer from (select from billing_revenue_due limit $1) as listed) as pending,
          coalesce((select greatest(extract(epoch from clock_timestamp() - marked_at), 0)
                    from billing_revenue_due order by marked_at limit 1), 0)::float8 as "delaySeconds"`,
);

/** The marks that are not taken yet. */
export interface RevenueDue {
  readonly pending: number;
  /** The age of the oldest mark, by the clock of the database; 0 without one. */
  readonly delaySeconds: number;
}

/** Summarizes the marks. @param limit of those that are counted */
export async function summarizeRevenueDue(db: Queryable, limit: number): Promise<RevenueDue> {
  const due = await queryRow(db, summarizeDueStatement, [limit]);
  return due ?? { pending: 0, delaySeconds: 0 };
}
