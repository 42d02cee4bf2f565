import { createHash } from 'node:crypto';

import type { Pool, PoolClient } from 'pg';

import { listDistributedTables } from '../distribution.ts';
import { listAppliedMigrations } from '../migrate.ts';
import { sendQuery, type Queryable } from '../send-query.ts';
import { inTransactionOnce } from '../transaction.ts';
import { BackupError } from './backup-error.ts';
import { writeNewFile, type Write } from './backup-file.ts';
import { COPY_SETTINGS, copyOut } from './copy-out.ts';
import {
  END_OF_ROWS,
  END_PREFIX,
  FORMAT,
  formatCopy,
  HEADER_PREFIX,
  LineHash,
  ROWS_PREFIX,
  type BackupHeader,
} from './format.ts';
import { listPresentTables, listSequences, listStoredTables, type StoredTable } from './tables.ts';
import { verifyBackup, type VerifiedBackup } from './verify-backup.ts';

/** What a backup is written of, and its progress. */
export interface BackupOptions {
  readonly pool: Pool;
  /** The ids of the master secrets, the current one first. */
  readonly secretIds: readonly string[];
  readonly version: string;
  readonly now: Date;
  readonly report: (status: string) => void;
}

/** Other sessions hold exclusive locks for seconds. */
const LOCK_TIMEOUT_MS = 60_000;

/**
 * Writes a backup of the database to a new file and reads it back. All rows are those of one moment, while the service
 * runs.
 * @throws BackupError with a sentence for the operator
 */
export async function writeBackup(path: string, options: BackupOptions): Promise<VerifiedBackup> {
  const { report } = options;
  return writeNewFile(path, {
    write: (write) => streamBackup(write, options),
    verify: (partial) => verifyBackup(partial, (status) => report(`verifying ${status}`)),
  });
}

/**
 * Writes the text of a backup to somewhere else than a file.
 * @throws BackupError with a sentence for the operator
 */
export async function streamBackup(write: Write, options: BackupOptions): Promise<void> {
  const present = await requireTables(options.pool);
  await inTransactionOnce(
    options.pool,
    (client) => writeSnapshot(client, present, write, options),
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
}

async function writeSnapshot(
  client: PoolClient,
  present: readonly string[],
  write: Write,
  options: BackupOptions,
): Promise<void> {
  await beginSnapshot(client, present);
  const tables = await listStoredTables(client);
  const hash = new LineHash();
  const writeLine = async (line: string): Promise<void> => {
    hash.add(line);
    await write(`${line}\n`);
  };
  const header = await describeDatabase(client, tables, options);
  await writeLine(HEADER_PREFIX + JSON.stringify(header));
  let rows = 0;
  for (const table of tables) {
    const report = (done: number): void => options.report(`${table.table}: ${done} rows`);
    await writeLine(formatCopy(table.table, table.columns));
    const trailer = await writeRows(client, table, write, report);
    await write(`${END_OF_ROWS}\n`);
    await writeLine(ROWS_PREFIX + JSON.stringify(trailer));
    rows += trailer.rows;
  }
  const end = { tables: tables.length, rows, sha256: hash.digest() };
  await write(`${END_PREFIX}${JSON.stringify(end)}\n`);
}

/**
 * Locks the tables against changes of the schema, then reads them as they are at one moment. Values are printed in the
 * same form by every server. No query may precede the locks, because the first one takes the snapshot: a table that is
 * rewritten after the snapshot and before its lock reads as empty.
 */
async function beginSnapshot(client: PoolClient, present: readonly string[]): Promise<void> {
  await sendQuery(client, {
    text: 'set transaction isolation level repeatable read, read only',
  });
  await sendQuery(client, {
    text: `set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; ${COPY_SETTINGS}`,
  });
  await sendQuery(
    client,
    { text: `lock table ${present.join(', ')} in access share mode` },
    LOCK_TIMEOUT_MS,
  );
  if ((await listDistributedTables(client)).length > 0) {
    throw new BackupError(
      'Events are spread with Citus, whose servers have no common snapshot: back up the coordinator with pg_dump, as docs/operations/scale-out.md describes.',
    );
  }
}

/**
 * Returns the tables of the schema that the database has.
 * @throws BackupError when it has none
 */
export async function requireTables(db: Queryable): Promise<readonly string[]> {
  const present = await listPresentTables(db);
  if (present.length > 0) return present;
  throw new BackupError('The database is empty: there is nothing to back up.');
}

async function describeDatabase(
  client: PoolClient,
  tables: readonly StoredTable[],
  { secretIds, version, now }: BackupOptions,
): Promise<BackupHeader> {
  const partitions = tables.flatMap(({ table, parent, bounds }) =>
    parent === null || bounds === null ? [] : [{ table, parent, bounds }],
  );
  return {
    format: FORMAT,
    latchkey: version,
    created_at: now.toISOString(),
    secret_ids: [...secretIds],
    migrations: await listAppliedMigrations(client),
    partitions,
    sequences: await listSequences(client),
  };
}

async function writeRows(
  client: PoolClient,
  { table, columns }: StoredTable,
  write: Write,
  report: (rows: number) => void,
) {
  const sha256 = createHash('sha256');
  const statement = `copy ${table} (${columns.join(', ')}) to stdout`;
  const take = (block: Buffer): Promise<void> => {
    sha256.update(block);
    return write(block);
  };
  const rows = await copyOut(client, statement, take, report);
  return { rows, sha256: sha256.digest('hex') };
}
