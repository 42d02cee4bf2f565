import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

const findStatement = defineStatement(
  'billing_reconciliation_find',
  Type.Object({ event_id: Type.String() }),
  `select event_id from billing_reconciliations where provider = $1
   union all
   (select event_id from billing_events where provider = $1 order by received_at, event_id limit 1)
   limit 1`,
);

/**
 * The event behind which a provider's log is to be compared: the last one that was, or else the first that was ever
 * received. Null while nothing was received: what a provider did before it was connected is not ours.
 */
export async function findReconciledEvent(db: Queryable, provider: string): Promise<string | null> {
  return (await queryRow(db, findStatement, [provider]))?.event_id ?? null;
}

const storeStatement = defineCommand(
  'billing_reconciliation_store',
  `insert into billing_reconciliations (provider, event_id, reconciled_at) values ($1, $2, $3)
   on conflict (provider) do update set event_id = excluded.event_id, reconciled_at = excluded.reconciled_at`,
);

/** Remembers how far a provider's log has been compared. */
export async function storeReconciledEvent(
  db: Queryable,
  provider: string,
  eventId: string,
  reconciledAt: Date,
): Promise<void> {
  await execute(db, storeStatement, [provider, eventId, reconciledAt]);
}
