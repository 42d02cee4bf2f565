import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { startEmbeddedPostgres } from '#server/db/embedded/start.ts';

import { createTestDatabase, type TestDatabase } from '../database.ts';
import { createRecordingLog, queryOnce } from '../embedded-postgres.ts';
import { makeExternalHome } from '../external-service.ts';
import { makeServiceHome, type ServiceHome, type Settings } from '../service-process.ts';
import { execute } from '../test-cluster.ts';

const SECRET = 'the secret of a service with a wrong database';

/** Starts the service, which must end with this one sentence and the exit code for a wrong configuration. */
async function assertRefuses(
  home: ServiceHome,
  settings: Settings,
  sentence: string,
): Promise<void> {
  const { code, output } = await home.runToEnd(settings);
  assert.equal(output, `latchkey: ${sentence}`);
  assert.equal(code, 78);
}

/** A service on a database of its own that was changed by hand. */
async function onChangedDatabase(
  sql: string,
  prove: (home: ServiceHome, settings: Settings) => Promise<void>,
): Promise<void> {
  const database: TestDatabase = await createTestDatabase();
  try {
    await execute(database.url, sql);
    await using home = await makeServiceHome();
    await prove(home, { DATABASE_URL: database.url, LATCHKEY_SECRET: SECRET });
  } finally {
    await database.drop();
  }
}

test('a database of a newer version is left alone', async () => {
  await onChangedDatabase(
    `insert into schema_migrations (name, checksum) values ('9999_from_the_future', 'x')`,
    (home, settings) =>
      assertRefuses(
        home,
        settings,
        'The database has migration 9999_from_the_future, which this program does not know: it belongs to a newer version. Start that version.',
      ),
  );
});

test('a migration that was changed after it was applied is told', async () => {
  await onChangedDatabase(
    `update schema_migrations set checksum = 'x' where name = '0001_schema'`,
    (home, settings) =>
      assertRefuses(
        home,
        settings,
        'Migration 0001_schema was changed after this database applied it. Restore the file as it was released.',
      ),
  );
});

test('rejects a database that a development build from before the first release migrated', async () => {
  await onChangedDatabase(
    `update schema_migrations set name = '0001_licensing'`,
    (home, settings) =>
      assertRefuses(
        home,
        settings,
        'This database was created by a development build of Latchkey from before the first release and cannot be migrated: start with an empty database (DATABASE_URL) or an empty data directory (LATCHKEY_DATA_DIR).',
      ),
  );
});

test('another secret than the one of the database is told, and the right one still opens it', async () => {
  await using external = await makeExternalHome();
  await (await external.start()).stop();
  await assertRefuses(
    external.home,
    { ...external.settings, LATCHKEY_SECRET: SECRET },
    'The master secret is not the one that this database was made with: set LATCHKEY_SECRET to what it was, or restore the file secret in the data directory.',
  );
  assert.deepEqual(await (await external.start()).stop(), { code: 0, signal: null });
});

test('a data directory that another service has is told, with its process, and is not harmed', async () => {
  await using home = await makeServiceHome();
  const service = await home.start();
  await assertRefuses(
    home,
    {},
    `The data directory ${home.dataDirectory} is in use by another Latchkey, process ${service.pid}: stop that one first, or give this one a directory of its own with LATCHKEY_DATA_DIR.`,
  );
  assert.equal((await fetch(`${service.url}/api/v1/health/ready`)).status, 200);
});

test('a wrong password, user or database in DATABASE_URL is told without the password', async () => {
  await using home = await makeServiceHome();
  const log = createRecordingLog();
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(home.directory, 'elsewhere'),
    durable: false,
    log,
  });
  try {
    await requirePasswords(join(home.directory, 'elsewhere', 'postgres'));
    await queryOnce(postgres.connection, `create role ann login password 'right-one'`);
    await queryOnce(postgres.connection, 'select pg_reload_conf()');
    const { host } = postgres.connection;
    const at = (credentials: string, database: string): Settings => ({
      DATABASE_URL: `postgres://${credentials}@localhost/${database}?host=${encodeURIComponent(host)}`,
      LATCHKEY_SECRET: SECRET,
    });
    await assertRefuses(
      home,
      at('ann:wrong-one', 'latchkey'),
      tell('password authentication failed for user "ann"'),
    );
    await assertRefuses(
      home,
      at('ann:right-one', 'nothing'),
      tell('database "nothing" does not exist'),
    );
  } finally {
    await postgres.stop();
  }
});

function tell(why: string): string {
  return `The database of DATABASE_URL cannot be used (${why}): check the URL, and that the server runs.`;
}

/** Has the server ask everyone but its owner for a password. */
async function requirePasswords(cluster: string): Promise<void> {
  const path = join(cluster, 'pg_hba.conf');
  await writeFile(path, `local all ann scram-sha-256\n${await readFile(path, 'utf8')}`);
}
