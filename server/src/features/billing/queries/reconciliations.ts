import { Type, type Static } from 'typebox';

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
 * Returns the event after which the comparison of the provider's log starts: the last compared event, or else the first
 * received one (simulated events have ids of another form and are not in the log). Null before the first event, because
 * events from before the provider was connected are not compared.
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

/** Returns when the first event of the provider's log was received, or null. */
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

/** Returns the last event of the provider's log that was received before a time, or null. */
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
   on conflict (provider) do update set event_id = excluded.event_id, failed_at = null, failure = null`,
);

/** Stores the last compared event of a provider's log, and clears an earlier failure, because there was progress. */
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
       failed_at = excluded.failed_at, failure = excluded.failure`,
);

/** The result of a comparison. */
export interface ReconciliationEnd {
  readonly provider: string;
  /**
   * The event after which it started, which becomes the cursor of the first comparison; null: at the start of the log.
   */
  readonly start: string | null;
  readonly at: Date;
  /** Null after a success. */
  readonly failure: string | null;
}

/** Records a success, which ends an earlier failure, or a failure. */
export async function recordReconciliation(
  db: Queryable,
  { provider, start, at, failure }: ReconciliationEnd,
): Promise<void> {
  const times = failure === null ? [at, null] : [null, at];
  await execute(db, recordStatement, [provider, start, ...times, failure]);
}

const ReconciliationRecord = Type.Object({
  reconciledAt: Nullable.Timestamp,
  failedAt: Nullable.Timestamp,
  failure: Nullable.Text,
});

/** The last successful comparison with a provider's log, and its failure since then. */
type ReconciliationRecord = Readonly<Static<typeof ReconciliationRecord>>;

const findStatement = defineStatement(
  'billing_reconciliation_find',
  ReconciliationRecord,
  `select reconciled_at as "reconciledAt", failed_at as "failedAt", failure
   from billing_reconciliations where provider = $1`,
);

/** Returns the results of the comparisons with a provider's log; null before the first one. */
export async function findReconciliation(
  db: Queryable,
  provider: string,
): Promise<ReconciliationRecord | null> {
  return queryRow(db, findStatement, [provider]);
}
