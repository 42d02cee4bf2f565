import type { Pool, PoolClient } from 'pg';

import { hasCode } from '#server/lib/unknown-values.ts';

import { isConnectionFailure } from '../database-errors.ts';
import { applyPending, applyRecorded, lockMigrations, type AppliedMigration } from '../migrate.ts';
import { sendQuery } from '../send-query.ts';
import { inTransactionOnce } from '../transaction.ts';
import { BackupError } from './backup-error.ts';
import { copyIn } from './copy-in.ts';
import { COPY_SETTINGS, copyOut } from './copy-out.ts';
import { formatCopy, type BackupHeader } from './format.ts';
import type { OpenBackup, TableRows } from './read-backup.ts';
import { RowDigest } from './row-digest.ts';
import { listPresentTables, listStoredTables, setSequence } from './tables.ts';

/** Where a backup is restored, and its progress. */
export interface RestoreOptions {
  readonly pool: Pool;
  readonly report: (status: string) => void;
  /** The free space of the database in MiB; Infinity if it is unknown. */
  readonly readFreeMib: () => Promise<number>;
  /** The last statements of the transaction. */
  readonly beforeCommit: (client: PoolClient) => Promise<void>;
  /** Whether the rows are read back and compared before the commit, which takes a third longer. Default: no. */
  readonly readsBack?: boolean;
  /** The directory of this version's migrations. */
  readonly directory?: URL;
}

/** What was restored. */
export interface Restored {
  readonly tables: number;
  readonly rows: number;
  /** The migrations of this version that the backup lacked. */
  readonly migrations: readonly string[];
}

/** SQLSTATE of a full disk. */
const DISK_FULL = '53100';

/** PostgreSQL ends when there is no space for a file of its write-ahead log (16 MiB), and removes what it wrote of it. */
const FULL_MIB = 32;

/** A limit for statements that read or write whole tables. */
const LONG_MS = 60 * 60_000;

/**
 * Restores a backup into a database without tables, in one transaction: if it fails or is interrupted, the database
 * remains empty. Creates the schema of the backup, loads the rows, and then migrates to the schema of this version.
 * @throws BackupError with a sentence for the operator
 */
export async function restoreBackup(
  backup: OpenBackup,
  options: RestoreOptions,
): Promise<Restored> {
  const { pool, report } = options;
  try {
    const restored = await inTransactionOnce(pool, (client) => restoreIn(client, backup, options), {
      lockTimeoutMs: 0,
      commitTimeoutMs: LONG_MS,
    });
    report('collecting statistics for the planner');
    await sendQuery(pool, { text: 'analyze' }, LONG_MS);
    return restored;
  } catch (error) {
    if (!(await isDiskFull(error, options))) throw error;
    const message =
      'The disk of the database is full, and nothing was restored: free space, and repeat the command.';
    throw new BackupError(message, { cause: error });
  }
}

async function isDiskFull(error: unknown, { readFreeMib }: RestoreOptions): Promise<boolean> {
  if (hasCode(error, DISK_FULL)) return true;
  return isConnectionFailure(error) && (await readFreeMib()) < FULL_MIB;
}

async function restoreIn(
  client: PoolClient,
  backup: OpenBackup,
  { report, beforeCommit, directory, readsBack = false }: RestoreOptions,
): Promise<Restored> {
  const { header } = backup;
  await sendQuery(client, {
    text: `set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; ${COPY_SETTINGS}`,
  });
  await lockMigrations(client);
  if ((await listPresentTables(client)).length > 0) throw notEmpty();
  await applyRecorded(client, header.migrations, directory);
  for (const { table, parent, bounds } of header.partitions) {
    await sendQuery(client, { text: `create table ${table} partition of ${parent} ${bounds}` });
  }
  const restore = readsBack ? restoreAndReadBack : restoreTable;
  const counts = await restoreTables(client, backup, (rows) => restore(client, rows, report));
  for (const sequence of header.sequences) await setSequence(client, sequence);
  const migrations = await applyPending(client, directory);
  await beforeCommit(client);
  return { ...counts, migrations };
}

async function restoreTables(
  client: PoolClient,
  backup: OpenBackup,
  restore: (stored: TableRows) => Promise<number>,
): Promise<{ tables: number; rows: number }> {
  const missing = new Map((await listStoredTables(client)).map((each) => [each.table, each]));
  const done = { tables: 0, rows: 0 };
  for await (const stored of backup.tables()) {
    if (!missing.delete(stored.table)) throw unexpected(stored.table);
    done.rows += await restore(stored);
    done.tables += 1;
  }
  const [forgotten] = missing.keys();
  if (forgotten !== undefined) throw unexpected(forgotten);
  return done;
}

/** Replaces the rows that the migrations inserted. The triggers that protect the audit log would prevent that. */
async function restoreTable(
  client: PoolClient,
  { table, columns, blocks }: TableRows,
  report: (status: string) => void,
): Promise<number> {
  report(`${table}: 0 rows`);
  await sendQuery(client, {
    text: `alter table ${table} disable trigger user; delete from ${table}; alter table ${table} enable trigger user`,
  });
  return copyIn(client, formatCopy(table, columns).replace(/;$/u, ''), blocks);
}

/** @throws BackupError when the table does not have exactly the rows of the backup */
async function restoreAndReadBack(
  client: PoolClient,
  stored: TableRows,
  report: (status: string) => void,
): Promise<number> {
  const { table, columns } = stored;
  const [expected, actual] = [new RowDigest(), new RowDigest()];
  const blocks = expected.observe(stored.blocks);
  const rows = await restoreTable(client, { ...stored, blocks }, report);
  report(`verifying ${table}`);
  const statement = `copy ${table} (${columns.join(', ')}) to stdout`;
  await copyOut(client, statement, async (block) => actual.add(block));
  if (actual.digest() === expected.digest()) return rows;
  throw new BackupError(
    `The rows of ${table} read back differ from those that were copied, and nothing was changed: check the disk and the memory of this machine.`,
  );
}

function notEmpty(): BackupError {
  return new BackupError(
    'The database is not empty, and a backup is restored only into an empty one: create a new database for DATABASE_URL, or set LATCHKEY_DATA_DIR to a new directory.',
  );
}

function unexpected(table: string): BackupError {
  return new BackupError(
    `The table ${table} is in only one of the backup and its schema: the backup was altered, so use another one.`,
  );
}

/**
 * Checks that this version knows the schema of a backup.
 * @throws BackupError for a newer schema
 */
export function requireKnownSchema(
  { latchkey, migrations }: BackupHeader,
  known: readonly AppliedMigration[],
): void {
  const checksums = new Map(known.map(({ name, checksum }) => [name, checksum]));
  const unknown = migrations.find(({ name, checksum }) => checksums.get(name) !== checksum);
  if (unknown === undefined) return;
  throw new BackupError(
    `The backup has the schema of Latchkey ${latchkey}, whose migration ${unknown.name} this version does not know: restore it with that version or a newer one.`,
  );
}
