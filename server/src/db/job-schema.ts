import { readdir, readFile } from 'node:fs/promises';

import type { PoolClient } from 'pg';
import { Type } from 'typebox';

import { StartupError } from '#server/config/startup-error.ts';

import { sendQuery } from './send-query.ts';
import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from './statement.ts';

/**
 * The schema that graphile-worker keeps its jobs in. The package brings its migrations as files. They are applied here
 * rather than by the package, which would use several transactions on a connection that does not hold our lock: this way
 * nodes that start at once do not collide, half of it is never visible, and a start that finds it in place loads nothing.
 */
const SCHEMA = 'graphile_worker';

/** The newest migration of the installed package; a test compares it with the package. */
export const JOB_SCHEMA_REVISION = 20;

/** How the package marks a migration that programs older than itself cannot work with. */
const BREAKING_MARK = '--! breaking';

const findTable = defineStatement(
  'job_schema_find_table',
  Type.Object({ present: Type.Boolean() }),
  `select to_regclass('${SCHEMA}.migrations') is not null as present`,
);

const listApplied = defineStatement(
  'job_schema_list',
  Type.Object({ id: Type.Integer(), breaking: Type.Boolean() }),
  `select id, breaking from ${SCHEMA}.migrations order by id`,
);

const recordApplied = defineCommand(
  'job_schema_insert',
  `insert into ${SCHEMA}.migrations (id, breaking) values ($1, $2)`,
);

/** Whether the database lacks the schema that this program keeps its jobs in. */
export async function lacksJobSchema(db: Queryable): Promise<boolean> {
  return !(await readApplied(db)).some(({ id }) => id === JOB_SCHEMA_REVISION);
}

/**
 * Installs that schema, or what is missing of it, in the transaction of the caller, who holds the lock for migrations.
 * @returns whether there was anything to do
 * @throws StartupError when a newer version has changed it in a way that this program cannot work with
 */
export async function migrateJobSchema(client: PoolClient, timeoutMs: number): Promise<boolean> {
  const applied = await readApplied(client);
  if (applied.some(({ id, breaking }) => breaking && id > JOB_SCHEMA_REVISION)) {
    throw new StartupError([
      'The jobs in the database are kept in the way of a newer version, which this program does not know. Start that version.',
    ]);
  }
  const done = new Set(applied.map(({ id }) => id));
  const missing = done.has(JOB_SCHEMA_REVISION)
    ? []
    : (await readMigrations()).filter(({ id }) => !done.has(id));
  if (missing.length === 0) return false;
  if (applied.length === 0) await sendQuery(client, { text: createSchema });
  for (const { id, sql } of missing) {
    await sendQuery(client, { text: sql }, timeoutMs);
    await execute(client, recordApplied, [id, sql.startsWith(BREAKING_MARK)]);
  }
  return true;
}

/** As the package begins. */
const createSchema = `
  create schema if not exists ${SCHEMA};
  create table if not exists ${SCHEMA}.migrations (
    id int primary key,
    ts timestamptz default now() not null,
    breaking boolean not null default false
  )`;

async function readApplied(db: Queryable) {
  const table = await queryRow(db, findTable);
  return table?.present === true ? queryRows(db, listApplied) : [];
}

async function readMigrations(): Promise<{ id: number; sql: string }[]> {
  const directory = new URL('../sql/', import.meta.resolve('graphile-worker'));
  const files = (await readdir(directory)).filter((file) => /^\d{6}\.sql$/.test(file)).sort();
  return Promise.all(
    files.map(async (file) => ({
      id: Number(file.slice(0, 6)),
      sql: (await readFile(new URL(file, directory), 'utf8')).replaceAll(
        /:GRAPHILE_WORKER_SCHEMA\b/g,
        SCHEMA,
      ),
    })),
  );
}
