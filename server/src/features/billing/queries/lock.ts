import { defineCommand, execute, type Queryable } from '#server/db/statement.ts';

const lockStatement = defineCommand(
  'billing_lock',
  `select pg_advisory_xact_lock(hashtextextended('latchkey billing', 0))`,
);

/**
 * Waits until no other transaction applies payments, and keeps others out until this one ends. One lock for all: which
 * purchases a batch concerns is known only once its facts are entered.
 */
export async function lockBilling(db: Queryable): Promise<void> {
  await execute(db, lockStatement);
}
