import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { findCitusVersion, listManagedTables } from '#server/db/distribution.ts';
import { isDirectConnection } from '#server/db/external-database.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { ClusterFacts, ClusterNode } from './facts.ts';
import type { SpreadTable } from './rules/layout.ts';
import {
  askWorkers,
  distributeTable,
  isOwner,
  listNodes,
  measureTable,
  readPreparedTransactions,
  readSettings,
  setDatabaseSettings,
  setSpreadTransaction,
} from './queries.ts';
import {
  describeSpread,
  planSpread,
  type SpreadChange,
  type SpreadPlan,
} from './rules/plan-spread.ts';

/** A million events take some seconds. */
const STATEMENT_TIMEOUT_MS = 12 * 60 * 60_000;

/** For statements that use the tables, such as a backup. */
const LOCK_TIMEOUT_MS = 60_000;

/** Reads everything that decides whether and how tables are spread; asks every server. */
export async function readClusterFacts(pool: Pool): Promise<ClusterFacts> {
  const citusVersion = await findCitusVersion(pool);
  return {
    citusVersion,
    isDirect: await isDirectConnection(pool),
    nodes: citusVersion === null ? [] : await readNodes(pool),
    tables: citusVersion === null ? [] : await listManagedTables(pool),
    isOwner: await isOwner(pool),
    settings: await readSettings(pool),
  };
}

async function readNodes(db: Queryable): Promise<ClusterNode[]> {
  const nodes = await listNodes(db);
  const ofWorkers = await askWorkers(db);
  const own = await readPreparedTransactions(db);
  const known = nodes.some(({ isCoordinator }) => isCoordinator)
    ? nodes
    : [{ name: 'coordinator', isCoordinator: true, isActive: true, holdsShards: false }, ...nodes];
  return known.map((node) => ({
    ...node,
    maxPreparedTransactions: node.isCoordinator ? own : (ofWorkers.get(node.name) ?? null),
  }));
}

/** A plan with the sizes of the tables to spread. */
export interface MeasuredPlan extends SpreadPlan {
  readonly sizes: readonly { readonly table: SpreadTable; readonly bytes: number }[];
}

/** Plans to spread tables, and changes nothing. */
export async function planSpreadOf(pool: Pool, withUsage: boolean): Promise<MeasuredPlan> {
  const facts = await readClusterFacts(pool);
  const plan = planSpread(facts, withUsage);
  const sizes = [];
  for (const table of plan.toSpread) {
    sizes.push({ table, bytes: await measureTable(pool, table.table) });
  }
  return { ...plan, sizes };
}

/**
 * Spreads tables in one transaction: all of them or none, with an audit row. Statements on these tables wait for it. Sets the
 * database's settings for the next connections.
 */
export async function spreadTables(
  { pool, clock }: { readonly pool: Pool; readonly clock: Clock },
  change: SpreadChange,
  actor: string,
): Promise<void> {
  await inTransaction(
    pool,
    async (client) => {
      await distributeTables(client, change.toSpread);
      await setDatabaseSettings(client);
      await insertAuditEntry(client, {
        occurredAt: clock.now(),
        actor,
        action: 'database.spread',
        subjectId: 'database',
        reason: null,
        details: describeSpread(change),
      });
    },
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
}

/** Distributes tables and moves their rows. @param db in a transaction, which has run no statement on them */
export async function distributeTables(
  db: Queryable,
  tables: readonly SpreadTable[],
): Promise<void> {
  await setSpreadTransaction(db);
  for (const each of tables) await distributeTable(db, each, STATEMENT_TIMEOUT_MS);
}
