import type { Pool } from 'pg';

import { isLockTimeout } from '#server/db/database-errors.ts';
import { defineCommand, execute, type Queryable, toColumns } from '#server/db/statement.ts';
import { inTransactionOnce } from '#server/db/transaction.ts';

import type { BillingFact, EventKey } from '../facts.ts';

/**
 * A call that arrives just after the start of a batch waits for its end and then for the lock: at most twice this,
 * while payment providers wait for five seconds.
 */
const LOCK_TIMEOUT_MS = 2_000;

/** A transaction that waits for a row delays all others that need the lock of billing. */
const ROW_LOCK_TIMEOUT_MS = 1_000;

const LOCK = `select set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true),
          pg_advisory_xact_lock(hashtextextended('latchkey billing', 0)),
          set_config('lock_timeout', '${ROW_LOCK_TIMEOUT_MS}', true),
          set_config('enable_seqscan', 'off', true),
          set_config('enable_hashjoin', 'off', true),
          set_config('enable_mergejoin', 'off', true),
          set_config('jit', 'off', true)`;

const lockStatement = defineCommand('billing_lock', LOCK);

const lockTimeouts = new WeakSet<object>();

/**
 * Acquires the lock of billing until the transaction ends. There is a single lock, because the purchases of a batch are
 * known only after its facts were inserted.
 *
 * Statements of this transaction use index look-ups only. A prepared statement keeps the plan of its first calls until
 * the tables are analyzed; on new, empty tables that plan is a sequential scan: a burst of purchases on a new database
 * went from 1.1 to 2.9 ms of PostgreSQL for each purchase within 15 s. With these settings it is 0.13 ms at any size.
 * PostgreSQL before 18 takes such plans for so expensive that it would compile each, which takes up to seconds.
 * @throws an error that is {@link isBillingLockTimeout} after two seconds
 */
export async function lockBilling(db: Queryable): Promise<void> {
  try {
    await execute(db, lockStatement);
  } catch (error) {
    if (error instanceof Error && isLockTimeout(error)) lockTimeouts.add(error);
    throw error;
  }
}

/** Runs work once in a transaction that begins with {@link lockBilling}, in one statement less. */
export async function inBillingTransactionOnce<Result>(
  pool: Pool,
  work: (client: Queryable) => Promise<Result>,
): Promise<Result> {
  let isLocked = false;
  const workLocked = (client: Queryable): Promise<Result> => {
    isLocked = true;
    return work(client);
  };
  try {
    return await inTransactionOnce(pool, workLocked, { first: LOCK });
  } catch (error) {
    if (!isLocked && error instanceof Error && isLockTimeout(error)) lockTimeouts.add(error);
    throw error;
  }
}

/** Whether an error is a timeout of the lock of billing, not of a row: any other batch would have failed too. */
export function isBillingLockTimeout(error: unknown): boolean {
  return error instanceof Error && lockTimeouts.has(error);
}

/** A fact and its source event. */
interface SourcedFact extends EventKey {
  readonly fact: BillingFact;
}

/**
 * Declares how facts are inserted into their ledger, and their purchases marked for the roll-up of revenue; those already
 * inserted stay unchanged. A payment of a subscription marks the subscription, as all of its facts do: it is counted once.
 * @param kind of the first column of the key
 * @param key the columns of the primary key besides provider and event id
 * @param references further columns with ids
 */
function defineInsert(
  name: string,
  table: string,
  kind: 'transaction' | 'subscription',
  key: readonly string[],
  references: readonly string[],
) {
  const columns = [...key, ...references];
  const mark = references.includes('subscription_id')
    ? `case when subscription_id is null then '${kind}' else 'subscription' end as kind, coalesce(subscription_id, ${key[0]}) as id`
    : `'${kind}' as kind, ${key[0]} as id`;
  return defineCommand(
    name,
    `with stored as (
       insert into ${table} (${columns.join(', ')}, provider, event_id, occurred_at, fact)
       select ${columns.map((column) => `fact->>'${toField(column)}'`).join(', ')}, provider, event_id,
              (fact->>'occurredAt')::timestamptz, fact
       from unnest($1::text[], $2::text[], $3::jsonb[]) as input (provider, event_id, fact)
       on conflict (${key.join(', ')}, provider, event_id) do nothing
       returning provider, ${mark}
     )
     insert into billing_revenue_due (provider, kind, id) select distinct provider, kind, id from stored`,
  );
}

function toField(column: string): string {
  return column.replaceAll(/_./g, (match) => match.slice(1).toUpperCase());
}

// The newest details apply; the order of arrival does not matter, even for two at the same time.
const upsertCustomersStatement = defineCommand(
  'billing_customer_upsert',
  `insert into billing_customers as customer (customer_id, provider, occurred_at, occurred_nanos, email, name, locale)
   select distinct on (customer_id, provider) customer_id, provider, occurred_at, occurred_nanos, email, name, locale
   from (
     select provider, fact->>'customerId' as customer_id, (fact->>'occurredAt')::timestamptz as occurred_at,
            coalesce((fact->>'occurredNanos')::integer, 0) as occurred_nanos,
            fact->'customer'->>'email' as email, fact->'customer'->>'name' as name,
            fact->'customer'->>'locale' as locale
     from unnest($1::text[], $2::text[], $3::jsonb[]) as input (provider, event_id, fact)
   ) as input
   order by customer_id, provider, occurred_at desc, occurred_nanos desc,
            email desc nulls last, name desc nulls last, locale desc nulls last
   on conflict (customer_id, provider) do update
   set occurred_at = excluded.occurred_at, occurred_nanos = excluded.occurred_nanos, email = excluded.email, name = excluded.name, locale = excluded.locale
   where (excluded.occurred_at, excluded.occurred_nanos,
          coalesce(excluded.email, ''), coalesce(excluded.name, ''), coalesce(excluded.locale, ''))
       > (customer.occurred_at, customer.occurred_nanos,
          coalesce(customer.email, ''), coalesce(customer.name, ''), coalesce(customer.locale, ''))`,
);

const INSERTS = {
  payment: defineInsert(
    'billing_payment_insert',
    'billing_payments',
    'transaction',
    ['transaction_id'],
    ['subscription_id', 'customer_id'],
  ),
  subscription: defineInsert(
    'billing_subscription_insert',
    'billing_subscriptions',
    'subscription',
    ['subscription_id'],
    ['transaction_id', 'customer_id'],
  ),
  adjustment: defineInsert(
    'billing_adjustment_insert',
    'billing_adjustments',
    'transaction',
    ['transaction_id', 'adjustment_id'],
    [],
  ),
  customer: upsertCustomersStatement,
};

const KINDS = ['payment', 'subscription', 'adjustment', 'customer'] as const;

/**
 * Inserts facts into the ledgers, and stores the newest details of customers. Inserting a fact again changes nothing.
 */
export async function insertFacts(db: Queryable, facts: readonly SourcedFact[]): Promise<void> {
  for (const kind of KINDS) {
    const ofKind = facts.filter(({ fact }) => fact.kind === kind);
    if (ofKind.length === 0) continue;
    await execute(db, INSERTS[kind], [
      ...toColumns(ofKind, ['provider', 'eventId']),
      ofKind.map(({ fact }) => JSON.stringify(fact)),
    ]);
  }
  const aliases = facts.flatMap(listAliases);
  if (aliases.length === 0) return;
  const columns = toColumns(aliases, ['alias', 'provider', 'transactionId']);
  await execute(db, insertAliasesStatement, columns);
}

const insertAliasesStatement = defineCommand(
  'billing_alias_insert',
  `insert into billing_aliases (alias, provider, transaction_id)
   select alias, provider, transaction_id
   from unnest($1::text[], $2::text[], $3::text[]) as input (alias, provider, transaction_id)
   on conflict (alias, provider, transaction_id) do nothing`,
);

/** Lists the further ids of a payment, by which other events refer to it. */
function listAliases({ provider, fact }: SourcedFact) {
  if (fact.kind !== 'payment') return [];
  const { transactionId, aliases = [], checkoutId } = fact;
  const others = checkoutId === undefined ? aliases : [...aliases, checkoutId];
  return others.map((alias) => ({ alias, provider, transactionId }));
}
