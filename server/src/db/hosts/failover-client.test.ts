import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { eventually } from '../../../test/eventually.ts';
import {
  AUTHENTICATION_OK,
  PASSWORD_REQUEST,
  startFakePostgres,
  textRow,
} from '../../../test/fake-postgres.ts';
import { isConnectionFailure, NoHostError } from '../database-errors.ts';
import { createPool } from '../pool.ts';
import { sendQuery } from '../send-query.ts';
import type { HostState } from './host-state.ts';

/** A server that reports a state, and answers every query but those that contain `never`. */
interface FakeHost {
  readonly name: string;
  /** Counts the connections, which may then set another state. */
  connections: number;
  /** Those that are not closed. */
  open: number;
  stateOf: (connection: number) => string;
  timelineOf: (connection: number) => number;
}

async function startHost(t: TestContext, state: HostState): Promise<FakeHost> {
  const fake: FakeHost = {
    name: '',
    connections: 0,
    open: 0,
    stateOf: () => state,
    timelineOf: () => 1,
  };
  const { host, port } = await startFakePostgres(t, (socket) => {
    const connection = (fake.connections += 1);
    fake.open += 1;
    socket.once('close', () => (fake.open -= 1));
    socket.write(AUTHENTICATION_OK);
    socket.on('data', (data) => {
      const query = String(data);
      if (!query.startsWith('Q') || query.includes('never')) return;
      const [name, value] = answer(fake, connection, query);
      socket.write(textRow(name, value));
    });
  });
  return Object.assign(fake, { name: `${host}:${port}` });
}

function answer(fake: FakeHost, connection: number, query: string): readonly [string, string] {
  if (query.includes('as state')) return ['state', fake.stateOf(connection)];
  if (query.includes('as timeline')) return ['timeline', String(fake.timelineOf(connection))];
  return ['result', 'answered'];
}

/** The fields of a log entry without its error. */
function eventOf(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== 'err'));
}

function openPool(
  t: TestContext,
  hosts: readonly Pick<FakeHost, 'name'>[],
  limits?: { readonly maxLifetimeSeconds: number },
) {
  const logged: unknown[] = [];
  const names = hosts.map(({ name }) => name).join(',');
  const pool = createPool(
    { url: `postgres://latchkey@${names}/latchkey` },
    {
      maxConnections: 2,
      ...limits,
      log: { warn: (fields: object) => void logged.push(eventOf(fields)) },
    },
  );
  t.after(() => pool.end());
  return { pool, logged };
}

test('goes on at the host that accepts writes, and ends connections to the one before', async (t) => {
  const first = await startHost(t, 'read-write');
  const second = await startHost(t, 'standby');
  const { pool, logged } = openPool(t, [first, second]);
  const frozen = sendQuery(pool, { text: 'select never' }, 60_000);
  frozen.catch(() => {});
  await sendQuery(pool, { text: 'select 1' });
  const client = await pool.connect();
  first.stateOf = () => 'standby';
  second.stateOf = () => 'read-write';
  client.release(true);
  // The result of the last search is used for a moment.
  const isAnswered = () => sendQuery(pool, { text: 'select 1' }).then(Boolean, () => false);
  await eventually(isAnswered);
  await assert.rejects(frozen, isConnectionFailure);
  const change = { event: 'database.host_changed', host: second.name, previous: first.name };
  assert.deepEqual(logged, [change]);
});

test('rejects a connection that leads to a standby, though the search found a primary', async (t) => {
  const host = await startHost(t, 'read-write');
  const other = await startHost(t, 'standby');
  host.stateOf = (connection) => (connection === 1 ? 'read-write' : 'standby');
  const { pool } = openPool(t, [host, other]);
  await assert.rejects(sendQuery(pool, { text: 'select 1' }), (error) => {
    assert.ok(error instanceof NoHostError);
    assert.equal(error.message, `${host.name} is a standby`);
    return true;
  });
  assert.equal(pool.totalCount, 0);
});

test('rejects a connection that leads to a primary from before a failover', async (t) => {
  const host = await startHost(t, 'read-write');
  const other = await startHost(t, 'standby');
  // One connection to examine it, and the one that is used.
  host.timelineOf = (connection) => (connection <= 2 ? 2 : 1);
  const { pool } = openPool(t, [host, other]);
  const client = await pool.connect();
  await assert.rejects(sendQuery(pool, { text: 'select 1' }), (error) => {
    assert.ok(error instanceof NoHostError);
    assert.ok(error.message.startsWith(`${host.name} is a primary from before a failover`));
    return true;
  });
  assert.equal(pool.totalCount, 1);
  client.release();
});

test('closes a connection whose state it cannot read', async (t) => {
  const host = await startHost(t, 'read-write');
  const other = await startHost(t, 'standby');
  host.stateOf = (connection) => (connection === 1 ? 'read-write' : 'unknown');
  const { pool } = openPool(t, [host, other]);
  await assert.rejects(sendQuery(pool, { text: 'select 1' }), /reported no state/u);
  await eventually(() => host.connections === 2 && host.open === 0);
});

test('looks the password up in the password file by the host', async (t) => {
  const passwords: string[] = [];
  const { host, port } = await startFakePostgres(t, (socket) => {
    socket.on('data', (data) => {
      if (data.toString('latin1', 0, 1) === 'p') passwords.push(data.toString('utf8', 5));
      socket.destroy();
    });
    socket.write(PASSWORD_REQUEST);
  });
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-pgpass-'));
  t.after(() => rm(directory, { recursive: true }));
  const file = join(directory, 'pgpass');
  await writeFile(file, `${host}:${port}:*:latchkey:of-this-host\n`, { mode: 0o600 });
  const { PGPASSFILE: before } = process.env;
  process.env['PGPASSFILE'] = file;
  t.after(() => {
    if (before === undefined) delete process.env['PGPASSFILE'];
    else process.env['PGPASSFILE'] = before;
  });
  const { pool } = openPool(t, [{ name: `${host}:${port}` }, { name: '127.0.0.1:1' }]);
  await assert.rejects(sendQuery(pool, { text: 'select 1' }), NoHostError);
  assert.deepEqual(passwords, ['of-this-host\0']);
});

test('closes a connection at the end of its lifetime', async (t) => {
  const host = await startHost(t, 'read-write');
  const { pool } = openPool(t, [host, await startHost(t, 'standby')], { maxLifetimeSeconds: 0.05 });
  await sendQuery(pool, { text: 'select 1' });
  await eventually(() => pool.totalCount === 0 && host.open === 0);
});
