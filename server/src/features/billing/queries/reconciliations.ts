import { Type } from 'typebox';

import {
  Nullable,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

const findStartStatement = defineStatement(
  'billing_reconciliation_find_start',
  Type.Object({ event_id: Type.String() }),
  `select event_id from billing_reconciliations where provider = $1
   union all
   (select event_id from billing_events
    where provider = $1 and event_id like 'evt\\_%' order by received_at, event_id limit 1)
   limit 1`,
);

/**
 * The event behind which Paddle's log is to be compared: the last one that was, or else the first that was ever received
 * (what was made for a trial of the webhook is in no log, and has ids of another kind). Null while nothing was received:
 * what a provider did before it was connected is not ours.
 */
export async function findReconciliationCursor(
  db: Queryable,
  provider: string,
): Promise<string | null> {
  return (await queryRow(db, findStartStatement, [provider]))?.event_id ?? null;
}

const findFirstStatement = defineStatement(
  'billing_event_find_first_receipt',
  Type.Object({ received_at: Timestamp }),
  `select received_at from billing_events
   where provider = $1 and event_id like 'evt\\_%' order by received_at limit 1`,
);

/** When the first event of a provider's log was received; null while none was. */
export async function findFirstReceivedAt(db: Queryable, provider: string): Promise<Date | null> {
  return (await queryRow(db, findFirstStatement, [provider]))?.received_at ?? null;
}

const findBeforeStatement = defineStatement(
  'billing_event_find_before',
  Type.Object({ event_id: Type.String() }),
  `select event_id from billing_events
   where provider = $1 and occurred_at < $2 and received_at < $2 and event_id like 'evt\\_%'
   order by received_at desc, event_id desc limit 1`,
);

/** The last event of Paddle's that had come by a moment; null when there is none. */
export async function findEventBefore(
  db: Queryable,
  provider: string,
  before: Date,
): Promise<string | null> {
  return (await queryRow(db, findBeforeStatement, [provider, before]))?.event_id ?? null;
}

const storeStatement = defineCommand(
  'billing_reconciliation_store_event',
  `insert into billing_reconciliations (provider, event_id) values ($1, $2)
   on conflict (provider) do update set event_id = excluded.event_id`,
);

/** Remembers how far a provider's log has been compared. */
export async function storeReconciliationCursor(
  db: Queryable,
  provider: string,
  eventId: string,
): Promise<void> {
  await execute(db, storeStatement, [provider, eventId]);
}

const recordStatement = defineCommand(
  'billing_reconciliation_record',
  `insert into billing_reconciliations as old (provider, event_id, reconciled_at, failed_at, failure)
   select $1, coalesce($2, ''), $3::timestamptz, $4::timestamptz, $5
   where $2::text is not null or exists (select from billing_reconciliations where provider = $1)
   on conflict (provider) do update
   set reconciled_at = coalesce(excluded.reconciled_at, old.reconciled_at),
       failed_at = coalesce(excluded.failed_at, old.failed_at),
       failure = coalesce(excluded.failure, old.failure)`,
);

/** How a comparison ended. */
export interface ReconciliationEnd {
  readonly provider: string;
  /** Where it began; kept where nothing was compared yet. Null: at the beginning of the log. */
  readonly start: string | null;
  readonly at: Date;
  /** Why it failed; null: it did not. */
  readonly failure: string | null;
}

/** Remembers how a comparison ended, beside how the last one of the other kind did. */
export async function recordReconciliation(
  db: Queryable,
  { provider, start, at, failure }: ReconciliationEnd,
): Promise<void> {
  const moments = failure === null ? [at, null] : [null, at];
  await execute(db, recordStatement, [provider, start, ...moments, failure]);
}

const clearFailureStatement = defineCommand(
  'billing_reconciliation_clear_failure',
  'update billing_reconciliations set failed_at = null, failure = null where provider = $1',
);

/** Forgets how a comparison failed, for a later one could read on. */
export async function clearReconciliationFailure(db: Queryable, provider: string): Promise<void> {
  await execute(db, clearFailureStatement, [provider]);
}

const findStatement = defineStatement(
  'billing_reconciliation_find',
  Type.Object({
    reconciled_at: Nullable.Moment,
    failed_at: Nullable.Moment,
    failure: Nullable.Text,
  }),
  'select reconciled_at, failed_at, failure from billing_reconciliations where provider = $1',
);

/** When a provider's log was last compared to its end, and when and why that last failed. */
interface ReconciliationRecord {
  readonly reconciledAt: Date | null;
  readonly failedAt: Date | null;
  readonly failure: string | null;
}

/** How the comparisons with a provider's log went; null before the first. */
export async function findReconciliation(
  db: Queryable,
  provider: string,
): Promise<ReconciliationRecord | null> {
  const row = await queryRow(db, findStatement, [provider]);
  if (row === null) return null;
  return { reconciledAt: row.reconciled_at, failedAt: row.failed_at, failure: row.failure };
}

/** Whether the newest comparison failed. */
export function hasReconciliationFailed({ reconciledAt, failedAt }: ReconciliationRecord): boolean {
  return failedAt !== null && (reconciledAt === null || failedAt > reconciledAt);
}
