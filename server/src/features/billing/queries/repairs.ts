/** Statements about what operators repaired. */
import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import type { RepairFact } from '../facts.ts';
import type { AssignedPrice } from '../rules/repairs.ts';

/** A repair, to be stored. */
export interface NewRepair {
  readonly repairId: string;
  readonly provider: string;
  /** Its transaction is empty if it is about every purchase. */
  readonly fact: RepairFact;
}

const insertStatement = defineCommand(
  'billing_repair_insert',
  `insert into billing_repairs (transaction_id, provider, repair_id, occurred_at, fact)
   values ($1, $2, $3, $4, $5::jsonb)`,
);

/** Stores a repair. */
export async function insertRepair(
  db: Queryable,
  { repairId, provider, fact }: NewRepair,
): Promise<void> {
  const { transactionId, occurredAt } = fact;
  const values = [transactionId, provider, repairId, occurredAt, JSON.stringify(fact)];
  await execute(db, insertStatement, values);
}

/** More prices than a shop has. */
const MAX_ASSIGNED = 10_000;

const listAssignedStatement = defineStatement(
  'billing_repair_list_prices',
  Type.Object({ provider: Type.String(), priceId: Type.String(), productId: Type.String() }),
  `select distinct on (provider, fact->>'priceId') provider, fact->>'priceId' as "priceId", fact->>'productId' as "productId"
   from billing_repairs where transaction_id = ''
   order by provider, fact->>'priceId', occurred_at desc, repair_id desc
   limit ${MAX_ASSIGNED}`,
);

/** Lists the prices that operators assigned to products in all purchases: the newest product of each. */
export async function listAssignedPrices(db: Queryable): Promise<AssignedPrice[]> {
  return queryRows(db, listAssignedStatement);
}
