import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

import { Type } from 'typebox';
import type { Pool, PoolClient } from 'pg';

import { StartupError } from '#server/config/startup-error.ts';

import { sendQuery } from './send-query.ts';
import { inTransaction } from './transaction.ts';
import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from './statement.ts';

/** Numbered SQL files, applied in the order of their names. */
const DIRECTORY = new URL('./migrations/', import.meta.url);

/** The advisory lock of a migrating process; an arbitrary constant. */
const MIGRATION_LOCK = 4_096_000_001;

/** The limit for one migration of a large table, and for other processes to wait for it. */
const MIGRATION_TIMEOUT_MS = 60 * 60_000;

/** A migration that a database has, or that this version knows. */
export interface AppliedMigration {
  /** The file's name without its extension. */
  readonly name: string;
  /** The SHA-256 of the file. */
  readonly checksum: string;
}

interface Migration extends AppliedMigration {
  readonly sql: string;
}

const createTable = defineCommand(
  'schema_migrations_create',
  `create table if not exists schema_migrations (
     name text not null primary key,
     checksum text not null,
     applied_at timestamptz not null default now()
   )`,
);

const listApplied = defineStatement(
  'schema_migrations_list',
  Type.Object({ name: Type.String(), checksum: Type.String() }),
  'select name, checksum from schema_migrations order by name',
);

const findTable = defineStatement(
  'schema_migrations_find_table',
  Type.Object({ present: Type.Boolean() }),
  `select to_regclass('schema_migrations') is not null as present`,
);

const recordApplied = defineCommand(
  'schema_migrations_insert',
  'insert into schema_migrations (name, checksum) values ($1, $2)',
);

/**
 * Applies the migrations that the database lacks and returns their names. Forward only; each file runs in its own
 * transaction together with its row in `schema_migrations`. Processes that start at the same time wait for each other.
 * @throws StartupError when the database is newer than this version, was created by a development build, or a migration
 *   was changed after it was applied
 */
export async function migrate(pool: Pool, directory = DIRECTORY): Promise<string[]> {
  const migrations = await readMigrations(directory);
  const applied: string[] = [];
  for (;;) {
    const name = await inTransaction(pool, (client) => applyNext(client, migrations), {
      lockTimeoutMs: 0,
    });
    if (name === null) return applied;
    applied.push(name);
  }
}

/**
 * Applies the first pending migration and returns its name; null if there is none. The lock belongs to the transaction,
 * so that it works through a pooler in transaction mode.
 */
async function applyNext(
  client: PoolClient,
  migrations: readonly Migration[],
): Promise<string | null> {
  await lockMigrations(client);
  await execute(client, createTable);
  const [next] = await findPending(client, migrations);
  if (next === undefined) return null;
  await apply(client, next);
  return next.name;
}

/** Lets no other process migrate until the transaction ends. */
export async function lockMigrations(client: PoolClient): Promise<void> {
  await sendQuery(client, { text: 'set local statement_timeout = 0' });
  await runForLong(client, `select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
}

async function apply(client: PoolClient, { name, sql, checksum }: Migration): Promise<void> {
  await runForLong(client, sql);
  await execute(client, recordApplied, [name, checksum]);
}

/** Creates a schema of an earlier time in an empty database, under the lock of migrations. @param recorded its migrations */
export async function applyRecorded(
  client: PoolClient,
  recorded: readonly AppliedMigration[],
  directory = DIRECTORY,
): Promise<void> {
  await execute(client, createTable);
  const names = new Set(recorded.map(({ name }) => name));
  const migrations = await readMigrations(directory);
  for (const each of migrations) if (names.has(each.name)) await apply(client, each);
}

/** Applies the migrations that the database lacks, under the lock of migrations, and returns their names. */
export async function applyPending(client: PoolClient, directory = DIRECTORY): Promise<string[]> {
  const pending = await findPending(client, await readMigrations(directory));
  for (const each of pending) await apply(client, each);
  return pending.map(({ name }) => name);
}

/** Returns the migrations of this version, oldest first. */
export async function listKnownMigrations(directory = DIRECTORY): Promise<AppliedMigration[]> {
  const migrations = await readMigrations(directory);
  return migrations.map(({ name, checksum }) => ({ name, checksum }));
}

/**
 * Returns the migrations that the database has, oldest first.
 * @throws StartupError as `migrate` does
 */
export async function listAppliedMigrations(db: Queryable): Promise<AppliedMigration[]> {
  await findPending(db, await readMigrations(DIRECTORY));
  return queryRows(db, listApplied);
}

/** Runs SQL without the usual time limit of a statement. */
async function runForLong(client: PoolClient, sql: string): Promise<void> {
  await sendQuery(client, { text: sql }, MIGRATION_TIMEOUT_MS);
}

/** Returns the names of the migrations that the database lacks. @throws StartupError as `migrate` does */
export async function listPendingMigrations(db: Queryable): Promise<string[]> {
  const migrations = await readMigrations(DIRECTORY);
  const table = await queryRow(db, findTable);
  const pending = table?.present === true ? await findPending(db, migrations) : migrations;
  return pending.map(({ name }) => name);
}

/**
 * Whether the database lacks a migration that this version needs. Migrations of newer versions are ignored, so that the
 * processes of the old version continue to serve during a rolling update.
 */
export async function lacksMigrations(db: Queryable): Promise<boolean> {
  const applied = new Set((await queryRows(db, listApplied)).map((row) => row.name));
  return (await readMigrations(DIRECTORY)).some(({ name }) => !applied.has(name));
}

async function findPending(
  db: Queryable,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const rows = await queryRows(db, listApplied);
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const problems = findMismatches(applied, migrations);
  if (problems.length > 0) throw new StartupError(problems);
  return migrations.filter((migration) => !applied.has(migration.name));
}

const DEVELOPMENT_DATABASE =
  'This database was created by a development build of Latchkey from before the first release and cannot be migrated: start with an empty database (DATABASE_URL) or an empty data directory (LATCHKEY_DATA_DIR).';

function findMismatches(
  applied: ReadonlyMap<string, string>,
  migrations: readonly Migration[],
): string[] {
  const [first] = migrations;
  if (applied.size > 0 && first !== undefined && !applied.has(first.name)) {
    return [DEVELOPMENT_DATABASE];
  }
  return [...applied].flatMap(([name, checksum]) => explainMismatch(name, checksum, migrations));
}

function explainMismatch(
  name: string,
  checksum: string,
  migrations: readonly Migration[],
): string[] {
  const ours = migrations.find((migration) => migration.name === name);
  if (!ours) {
    return [
      `The database has migration ${name}, which this program does not know: it belongs to a newer version. Start that version.`,
    ];
  }
  if (ours.checksum !== checksum) {
    return [
      `Migration ${name} was changed after this database applied it. Restore the file as it was released.`,
    ];
  }
  return [];
}

const loaded = new Map<string, Promise<readonly Migration[]>>();

/**
 * Reads the files once: readiness probes call this often, and a process that dropped root may be unable to read them.
 */
function readMigrations(directory: URL): Promise<readonly Migration[]> {
  const migrations = loaded.get(directory.href) ?? loadMigrations(directory);
  loaded.set(directory.href, migrations);
  return migrations;
}

async function loadMigrations(directory: URL): Promise<readonly Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file) => {
      const sql = await readFile(new URL(file, directory), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { name: file.replace(/\.sql$/, ''), sql, checksum };
    }),
  );
}
