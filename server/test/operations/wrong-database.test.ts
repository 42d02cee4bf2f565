import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';

import { lockDataDirectory } from '#server/db/embedded/owner-lock.ts';

import { createTestDatabase } from '../database.ts';
import { createExternalHome } from '../external-service.ts';
import { listenOnFreePort } from '../ports.ts';
import { createServiceHome, type ServiceHome, type Settings } from '../service-process.ts';
import { execute } from '../test-cluster.ts';

const SECRET = 'the secret of a service with a wrong database';

/** Starts the service; asserts that it exits with this sentence and the code of an invalid configuration. */
async function assertRefuses(
  home: ServiceHome,
  settings: Settings,
  sentence: string,
): Promise<void> {
  const { code, output } = await home.runToEnd(settings);
  assert.equal(output, `latchkey: ${sentence}`);
  assert.equal(code, 78);
}

test('refuses a database of a newer version', async () => {
  const database = await createTestDatabase();
  try {
    await execute(
      database.url,
      `insert into schema_migrations (name, checksum) values ('9999_from_the_future', 'x')`,
    );
    await using home = await createServiceHome();
    await assertRefuses(
      home,
      { DATABASE_URL: database.url, LATCHKEY_SECRET: SECRET },
      'The database has migration 9999_from_the_future, which this program does not know: it belongs to a newer version. Start that version.',
    );
  } finally {
    await database.drop();
  }
});

test('refuses a wrong master secret, and starts with the right one', async () => {
  await using external = await createExternalHome();
  await (await external.start()).stop();
  await assertRefuses(
    external.home,
    { ...external.settings, LATCHKEY_SECRET: SECRET },
    'The master secret is not the one that this database was created with: set LATCHKEY_SECRET to its previous value, or restore the file secret in the data directory.',
  );
  assert.deepEqual(await (await external.start()).stop(), { code: 0, signal: null });
});

test('refuses a data directory that another process uses, on the same port or another', async () => {
  await using home = await createServiceHome();
  const lock = await lockDataDirectory(home.dataDirectory);
  const taken = createServer();
  const port = await listenOnFreePort(taken);
  const sentence = `The data directory ${home.dataDirectory} is in use by another Latchkey, process ${process.pid}: stop that one first, or give this one a directory of its own with LATCHKEY_DATA_DIR.`;
  try {
    await assertRefuses(home, {}, sentence);
    await assertRefuses(home, { LATCHKEY_PORT: String(port) }, sentence);
  } finally {
    taken.close();
  }
  await lock.release();
});
