import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';
import { toByteaArray } from '#server/db/hot-statement.ts';

export const SuppressionReason = Type.Enum([
  'unsubscribed',
  'erased',
  'by_hand',
  'bounced',
  'complained',
]);

export type SuppressionReason = Static<typeof SuppressionReason>;

/** An address that receives no newsletter and no outreach. */
export interface Suppression {
  /** By `hashAddress`. */
  readonly addressHash: string;
  readonly reason: SuppressionReason;
  /** The newest time at which that was requested. */
  readonly suppressedAt: Date;
}

const lockStatement = defineCommand(
  'subscriber_lock',
  `select pg_advisory_xact_lock(hashtextextended('latchkey address ' || $1, 0))`,
);

/** Locks an address, known or not, until the transaction ends. */
export async function lockAddress(db: Queryable, addressHash: string): Promise<void> {
  await execute(db, lockStatement, [addressHash]);
}

/**
 * Merges two suppressions of an address. `unsubscribed` never replaces another reason, because the recipient can lift only
 * that one; nothing replaces `erased`, because it also prevents storing the address.
 */
export const MERGE_SUPPRESSIONS = `
   on conflict (address_hash) do update
   set suppressed_at = greatest(suppressions.suppressed_at, excluded.suppressed_at),
       reason = case when excluded.reason = 'unsubscribed' or suppressions.reason = 'erased'
                     then suppressions.reason else excluded.reason end`;

const insertStatement = defineCommand(
  'suppression_insert',
  `insert into suppressions (address_hash, reason, suppressed_at) values (decode($1, 'hex'), $2, $3)
   ${MERGE_SUPPRESSIONS}`,
);

/** Suppresses an address; a suppression that exists is merged. */
export async function insertSuppression(
  db: Queryable,
  { addressHash, reason, suppressedAt }: Suppression,
): Promise<void> {
  await execute(db, insertStatement, [addressHash, reason, suppressedAt]);
}

const SuppressionRow = Type.Object({
  addressHash: Type.String(),
  reason: SuppressionReason,
  suppressedAt: Timestamp,
});

const COLUMNS = `encode(address_hash, 'hex') as address_hash, reason, suppressed_at`;

const findStatement = defineStatement(
  'suppression_find',
  SuppressionRow,
  `select ${COLUMNS} from suppressions where address_hash = decode($1, 'hex')`,
);

export async function findSuppression(
  db: Queryable,
  addressHash: string,
): Promise<Suppression | null> {
  return queryRow(db, findStatement, [addressHash]);
}

const listStatement = defineStatement(
  'suppression_list_hashes',
  Type.Object({ addressHash: Type.String() }),
  `select encode(address_hash, 'hex') as address_hash from suppressions
   where address_hash = any ($1::bytea[])`,
);

/** Returns those of the addresses that are suppressed. */
export async function listSuppressed(
  db: Queryable,
  addressHashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await queryRows(db, listStatement, [toByteaArray(addressHashes)]);
  return new Set(rows.map((row) => row.addressHash));
}

const deleteStatement = defineCommand(
  'suppression_delete',
  `delete from suppressions where address_hash = decode($1, 'hex')`,
);

/** Lifts a suppression of any reason; returns false when there was none. */
export async function deleteSuppression(db: Queryable, addressHash: string): Promise<boolean> {
  return (await execute(db, deleteStatement, [addressHash])) === 1;
}

const liftStatement = defineCommand(
  'suppression_lift',
  `delete from suppressions
   where address_hash = decode($1, 'hex') and reason = 'unsubscribed' and suppressed_at < $2`,
);

/** Lifts an unsubscription that is older than the request for a newsletter that was confirmed now. */
export async function liftUnsubscription(
  db: Queryable,
  addressHash: string,
  requestedAt: Date,
): Promise<void> {
  await execute(db, liftStatement, [addressHash, requestedAt]);
}
