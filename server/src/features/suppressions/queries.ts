import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';
import { toByteaArray } from '#server/db/text-arrays.ts';

/** Why an address gets no mail. */
export const SuppressionReason = Type.Union([
  Type.Literal('unsubscribed'),
  Type.Literal('erased'),
  Type.Literal('by_hand'),
  Type.Literal('bounced'),
  Type.Literal('complained'),
]);

export type SuppressionReason = 'unsubscribed' | 'erased' | 'by_hand' | 'bounced' | 'complained';

/** An address that gets no mail. */
export interface Suppression {
  /** As `hashAddress` gives it. */
  readonly addressHash: string;
  readonly reason: SuppressionReason;
  /** The last time that it was said. */
  readonly suppressedAt: Date;
}

const insertStatement = defineCommand(
  'suppression_insert',
  `insert into suppressions (address_hash, reason, suppressed_at) values (decode($1, 'hex'), $2, $3)
   on conflict (address_hash) do update
   set suppressed_at = greatest(suppressions.suppressed_at, excluded.suppressed_at),
       reason = case when excluded.reason = 'unsubscribed' or suppressions.reason = 'erased'
                     then suppressions.reason else excluded.reason end`,
);

/**
 * Keeps mail from an address. A reason that its owner cannot take back outlasts an unsubscription, and `erased` outlasts
 * all, for it also keeps the address from being stored.
 */
export async function insertSuppression(
  db: Queryable,
  { addressHash, reason, suppressedAt }: Suppression,
): Promise<void> {
  await execute(db, insertStatement, [addressHash, reason, suppressedAt]);
}

const SuppressionRow = Type.Object({
  address_hash: Type.String(),
  reason: SuppressionReason,
  suppressed_at: Timestamp,
});

const COLUMNS = `encode(address_hash, 'hex') as address_hash, reason, suppressed_at`;

const findStatement = defineStatement(
  'suppression_find',
  SuppressionRow,
  `select ${COLUMNS} from suppressions where address_hash = decode($1, 'hex')`,
);

/** Why an address gets no mail; null when it may. */
export async function findSuppression(
  db: Queryable,
  addressHash: string,
): Promise<Suppression | null> {
  const row = await queryRow(db, findStatement, [addressHash]);
  return row && { addressHash, reason: row.reason, suppressedAt: row.suppressed_at };
}

const listStatement = defineStatement(
  'suppression_list_hashes',
  Type.Object({ address_hash: Type.String() }),
  `select encode(address_hash, 'hex') as address_hash from suppressions
   where address_hash = any ($1::bytea[])`,
);

/** Which of these addresses get no mail, in one statement for all. */
export async function listSuppressed(
  db: Queryable,
  addressHashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await queryRows(db, listStatement, [toByteaArray(addressHashes)]);
  return new Set(rows.map((row) => row.address_hash));
}

const listNewestStatement = defineStatement(
  'suppression_list_newest',
  SuppressionRow,
  `select ${COLUMNS} from suppressions order by suppressed_at desc, address_hash limit $1`,
);

/** The newest suppressions. */
export async function listNewestSuppressions(db: Queryable, limit: number): Promise<Suppression[]> {
  const rows = await queryRows(db, listNewestStatement, [limit]);
  return rows.map((row) => ({
    addressHash: row.address_hash,
    reason: row.reason,
    suppressedAt: row.suppressed_at,
  }));
}

const deleteStatement = defineCommand(
  'suppression_delete',
  `delete from suppressions where address_hash = decode($1, 'hex')`,
);

/** Lets an address have mail again; false when nothing kept it from it. */
export async function deleteSuppression(db: Queryable, addressHash: string): Promise<boolean> {
  return (await execute(db, deleteStatement, [addressHash])) === 1;
}

const liftStatement = defineCommand(
  'suppression_lift',
  `delete from suppressions
   where address_hash = decode($1, 'hex') and reason = 'unsubscribed' and suppressed_at < $2`,
);

/** Takes back an unsubscription that was said before this moment, which nothing but a confirmed opt-in does. */
export async function liftUnsubscription(
  db: Queryable,
  addressHash: string,
  requestedAt: Date,
): Promise<void> {
  await execute(db, liftStatement, [addressHash, requestedAt]);
}
