import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

import { Type } from 'typebox';
import type { Pool, PoolClient } from 'pg';

import { StartupError } from '#server/config/startup-error.ts';

import { lacksJobSchema, migrateJobSchema } from './job-schema.ts';
import { sendQuery } from './send-query.ts';
import { inTransaction } from './transaction.ts';
import { defineCommand, defineStatement, execute, queryRows, type Queryable } from './statement.ts';

const MIGRATIONS_DIRECTORY = new URL('./migrations/', import.meta.url);

/** What the schema of the jobs, which is not ours, is called among the migrations. */
const JOB_SCHEMA = 'jobs';

/** Any fixed number: whoever migrates this database holds this advisory lock. */
const MIGRATION_LOCK = 4_096_000_001;

/** A large table may take this long to change, and other nodes wait for it as long. */
const MIGRATION_TIMEOUT_MS = 60 * 60_000;

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

const createLedger = defineCommand(
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

const findLedger = defineStatement(
  'schema_migrations_find_table',
  Type.Object({ present: Type.Boolean() }),
  `select to_regclass('schema_migrations') is not null as present`,
);

const recordApplied = defineCommand(
  'schema_migrations_insert',
  'insert into schema_migrations (name, checksum) values ($1, $2)',
);

/**
 * Brings the database to this program's schema and gives the names of the migrations that it applied. Forward only, each
 * file in a transaction of its own with its row in the ledger. Nodes that start at once wait for one another.
 * @throws StartupError when the database is newer than this program or a migration was changed after it was applied
 */
export async function migrate(pool: Pool): Promise<string[]> {
  const applied: string[] = [];
  for (;;) {
    const name = await inTransaction(pool, applyNext, { lockTimeoutMs: 0 });
    if (name === null) return applied;
    applied.push(name);
  }
}

/** Applies the first pending migration. The lock belongs to the transaction, so a pooler in between may share sessions. */
async function applyNext(client: PoolClient): Promise<string | null> {
  await sendQuery(client, { text: 'set local statement_timeout = 0' });
  await runForLong(client, `select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
  await execute(client, createLedger);
  const [next] = await findPending(client);
  if (next === undefined) {
    return (await migrateJobSchema(client, MIGRATION_TIMEOUT_MS)) ? JOB_SCHEMA : null;
  }
  await runForLong(client, next.sql);
  await execute(client, recordApplied, [next.name, next.checksum]);
  return next.name;
}

/** Runs SQL that the usual limit for a statement is too short for. */
async function runForLong(client: PoolClient, sql: string): Promise<void> {
  await sendQuery(client, { text: sql }, MIGRATION_TIMEOUT_MS);
}

/** The names of the migrations that this program has and the database has not. */
export async function listPendingMigrations(db: Queryable): Promise<string[]> {
  const ledger = await queryRows(db, findLedger);
  const pending = ledger[0]?.present === true ? await findPending(db) : await readMigrations();
  const names = pending.map((migration) => migration.name);
  return (await lacksJobSchema(db)) ? [...names, JOB_SCHEMA] : names;
}

/**
 * Whether the database lacks a migration that this program needs. One that only a newer program knows does not count:
 * while a new version rolls out, the processes of the old one serve on.
 */
export async function lacksMigrations(db: Queryable): Promise<boolean> {
  const applied = new Set((await queryRows(db, listApplied)).map((row) => row.name));
  if ((await listFiles()).some((file) => !applied.has(nameOf(file)))) return true;
  return lacksJobSchema(db);
}

async function findPending(db: Queryable): Promise<Migration[]> {
  const applied = new Map(
    (await queryRows(db, listApplied)).map((row) => [row.name, row.checksum]),
  );
  const migrations = await readMigrations();
  const problems = [...applied].flatMap(([name, checksum]) =>
    explainMismatch(name, checksum, migrations),
  );
  if (problems.length > 0) throw new StartupError(problems);
  return migrations.filter((migration) => !applied.has(migration.name));
}

function explainMismatch(name: string, checksum: string, migrations: Migration[]): string[] {
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

async function readMigrations(): Promise<Migration[]> {
  return Promise.all((await listFiles()).map(readMigration));
}

let files: Promise<string[]> | undefined;

/** Read once: readiness probes ask for them, and a process that gave up root may be unable to read them again. */
function listFiles(): Promise<string[]> {
  files ??= readdir(MIGRATIONS_DIRECTORY).then((names) =>
    names.filter((name) => name.endsWith('.sql')).sort(),
  );
  return files;
}

function nameOf(file: string): string {
  return file.replace(/\.sql$/, '');
}

async function readMigration(file: string): Promise<Migration> {
  const sql = await readFile(new URL(file, MIGRATIONS_DIRECTORY), 'utf8');
  return {
    name: nameOf(file),
    sql,
    checksum: createHash('sha256').update(sql).digest('hex'),
  };
}
