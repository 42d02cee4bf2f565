import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { findCitusVersion, listDistributedTables } from '#server/db/distribution.ts';
import { isDirectConnection } from '#server/db/external-database.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { ClusterFacts, ClusterNode } from './facts.ts';
import { DATABASE_SETTINGS, type SpreadTable } from './rules/layout.ts';
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
import { planSpread, type SpreadPlan } from './rules/plan-spread.ts';

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
    tables: await listDistributedTables(pool),
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
  /** Whether the database has other settings. */
  readonly changesSettings: boolean;
}

/** Plans to spread tables, and changes nothing. */
export async function planSpreadOf(pool: Pool, withUsage: boolean): Promise<MeasuredPlan> {
  const facts = await readClusterFacts(pool);
  const plan = planSpread(facts, withUsage);
  const sizes = await Promise.all(
    plan.toSpread.map(async (table) => ({ table, bytes: await measureTable(pool, table.table) })),
  );
  const changesSettings = Object.entries(DATABASE_SETTINGS).some(
    ([name, value]) => facts.settings[name] !== value,
  );
  return { ...plan, sizes, changesSettings };
}

/**
 * Spreads the tables of a plan in one transaction: all of them or none. Statements on these tables wait for it. Sets the
 * database's settings for the next connections.
 */
export async function spreadTables(
  { pool, clock }: { readonly pool: Pool; readonly clock: Clock },
  tables: readonly SpreadTable[],
  actor: string,
): Promise<void> {
  await inTransaction(
    pool,
    async (client) => {
      await distributeTables(client, tables);
      await setDatabaseSettings(client);
      await insertAuditEntry(client, {
        occurredAt: clock.now(),
        actor,
        action: 'database.spread',
        subjectId: 'database',
        reason: null,
        details: { tables: tables.map(({ table }) => table).join(', ') },
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
