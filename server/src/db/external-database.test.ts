import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';

import { Client } from 'pg';

import { StartupError } from '#server/config/startup-error.ts';

import { createTestDatabase } from '../../test/database.ts';
import {
  textRow,
  errorResponse,
  startFakePostgres,
  AUTHENTICATION_OK,
} from '../../test/fake-postgres.ts';
import { withDatabase } from '../../test/test-cluster.ts';
import { openExternalDatabase } from './external-database.ts';

const database = await createTestDatabase();
after(() => database.drop());

const options = { maxConnections: 1, log: { warn: () => {} } };

/** Accepts every connection, and answers every query with a version. */
function serveVersion(version: string): (socket: Socket) => void {
  return (socket) => {
    socket.write(AUTHENTICATION_OK);
    socket.on('data', (data) => {
      if (String(data).startsWith('Q')) socket.write(textRow('server_version_num', version));
    });
  };
}

/** Opens a database that must be rejected at once, with one sentence. */
async function assertRejected(url: string, sentence: string): Promise<void> {
  const startedAt = performance.now();
  await assert.rejects(openExternalDatabase(url, options), (error) => {
    assert.ok(error instanceof StartupError);
    assert.deepEqual(error.problems, [sentence]);
    return true;
  });
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < 15_000, `${tookMs} ms`);
}

function unusable(reason: string, fix: string): string {
  return `The database of DATABASE_URL cannot be used (${reason}): ${fix}.`;
}

test('rejects a PostgreSQL that is too old, and closes the connection', async (t) => {
  const closed = Promise.withResolvers<unknown>();
  const { port } = await startFakePostgres(t, (socket) => {
    closed.resolve(once(socket, 'close'));
    serveVersion('140011')(socket);
  });
  await assertRejected(
    `postgres://latchkey@127.0.0.1:${port}/latchkey`,
    'The database is PostgreSQL 14, and version 15 or newer is needed: upgrade the server.',
  );
  await closed.promise;
});

test('rejects a wrong password at once, without naming it', async (t) => {
  const reason = 'password authentication failed for user "ann"';
  const { port } = await startFakePostgres(t, (socket) =>
    socket.end(errorResponse('28P01', reason)),
  );
  await assertRejected(
    `postgres://ann:wrong-one@127.0.0.1:${port}/latchkey`,
    unusable(reason, 'correct the user and the password in the URL'),
  );
});

test('rejects a database that does not exist', async () => {
  const url = withDatabase(database.url, 'nothing');
  await assertRejected(
    url,
    unusable(
      'database "nothing" does not exist',
      'create the database, or correct its name in the URL',
    ),
  );
});

test('waits for a server that is starting', async (t) => {
  const { host, port: realPort, user, database: name } = new Client(database.url);
  const target = host.startsWith('/')
    ? { path: `${host}/.s.PGSQL.${realPort}` }
    : { host, port: realPort };
  let connections = 0;
  const { port } = await startFakePostgres(t, (socket, startup) => {
    connections += 1;
    if (connections === 1) {
      socket.end(errorResponse('57P03', 'the database system is starting up'));
    } else {
      const real = connect(target);
      real.write(startup);
      socket.pipe(real).pipe(socket);
    }
  });
  const url = `postgres://${user}@127.0.0.1:${port}/${name}`;
  const pool = await openExternalDatabase(url, options);
  await pool.end();
  assert.equal(connections, 2);
});
