/** Reports on a replica that is complete, behind, gone, or none of this database. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { createPool } from '#server/db/pool.ts';
import { ReportReader } from '#server/db/replica/report-reader.ts';
import { sendQuery, type Queryable } from '#server/db/send-query.ts';

import { runLatchkey } from '../command-line.ts';
import { createTestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { lacksPostgres } from '../installed-postgres.ts';
import { startReplicatedPostgres, type ReplicatedPostgres } from '../replicated-postgres.ts';
import { createServiceHome } from '../service-process.ts';

const options = { skip: lacksPostgres };
const MAX_LAG_MS = 200;

const resources = new AsyncDisposableStack();
after(() => resources.disposeAsync());

let postgres: ReplicatedPostgres;

before(async () => {
  if (lacksPostgres !== false) return;
  postgres = resources.use(await startReplicatedPostgres());
  await postgres.primary.query('create table facts (fact text not null)');
  await postgres.waitForReplay();
});

function openPool(url: string) {
  const pool = createPool({ url }, { maxConnections: 1, log: { warn: () => {} } });
  resources.defer(() => pool.end());
  return pool;
}

/** Creates a reader of the primary and a replica, with a clock, and its log. */
function openReader(replicaUrl: string) {
  const logged: string[] = [];
  const log = (_fields: object, message: string): void => void logged.push(message);
  let nowMs = 0;
  const reader = new ReportReader({
    primary: openPool(urlOf(postgres.primary.host)),
    replica: openPool(replicaUrl),
    maxLagMs: MAX_LAG_MS,
    log: { info: log, warn: log },
    nowMs: () => nowMs,
  });
  const forget = (): void => void (nowMs += 30_000);
  return { reader, logged, forget };
}

function urlOf(host: string): string {
  return `postgresql://latchkey@${host}/postgres`;
}

/** Returns the kind of the server that it reads, and the number of facts there. */
async function readFacts(db: Queryable): Promise<string> {
  const text = `select case when pg_is_in_recovery() then 'standby' else 'primary' end || ' ' || count(*) as seen from facts`;
  const { rows } = await sendQuery(db, { text });
  return String(rows[0]?.['seen']);
}

async function addFact(): Promise<void> {
  await postgres.primary.query("insert into facts values ('a fact')");
}

test('reads a replica, complete or not', options, async () => {
  const { reader, logged } = openReader(urlOf(postgres.standby.host));
  assert.equal(await reader.read(readFacts), 'standby 0');
  await addFact();
  await postgres.waitForReplay();
  assert.equal(await reader.readComplete(readFacts), 'standby 1');
  assert.deepEqual(logged, []);
});

test('reads the primary while the replica is behind, and logs it once', options, async () => {
  const { reader, logged, forget } = openReader(urlOf(postgres.standby.host));
  await postgres.standby.query('select pg_wal_replay_pause()');
  try {
    await addFact();
    assert.equal(await reader.readComplete(readFacts), 'primary 2');
    assert.equal(await reader.read(readFacts), 'primary 2');
  } finally {
    await postgres.standby.query('select pg_wal_replay_resume()');
  }
  await postgres.waitForReplay();
  forget();
  assert.equal(await reader.read(readFacts), 'standby 2');
  assert.deepEqual(logged, [
    'reports are read from the primary instead of the replica: it does not have the last changes',
    'reports are read from the replica again',
  ]);
});

test('reads the primary when there is no such replica', options, async () => {
  const other = await createTestDatabase();
  resources.defer(() => other.drop());
  for (const [url, problem] of [
    [urlOf('127.0.0.1:1'), 'it does not answer (connect ECONNREFUSED 127.0.0.1:1)'],
    [other.url, 'it is a replica of another database'],
  ] as const) {
    const { reader, logged } = openReader(url);
    assert.equal(await reader.read(readFacts), 'primary 2');
    assert.deepEqual(logged, [
      `reports are read from the primary instead of the replica: ${problem}`,
    ]);
  }
});

test(
  'reads a replica that became the primary, and repeats what fails on a replica',
  options,
  async () => {
    const same = openReader(urlOf(postgres.primary.host));
    assert.equal(await same.reader.read(readFacts), 'primary 2');
    assert.deepEqual(same.logged, []);
    const { reader, logged } = openReader(urlOf(postgres.standby.host));
    await reader.read((db) => sendQuery(db, { text: 'create temporary table refused ()' }));
    assert.deepEqual(logged, [
      'reports are read from the primary instead of the replica: it failed (cannot execute CREATE TABLE in a read-only transaction)',
    ]);
  },
);

test(
  'a report of the command line names the lag of the replica, and is complete',
  options,
  async () => {
    await using home = await createServiceHome();
    await postgres.primary.query('create database latchkey');
    const settings = {
      DATABASE_URL: `postgresql://latchkey@${postgres.primary.host}/latchkey`,
      LATCHKEY_REPLICA_URL: `postgresql://latchkey@${postgres.standby.host}/latchkey`,
      LATCHKEY_REPLICA_MAX_LAG_S: '1',
      LATCHKEY_SECRET: 'the secret of a command that reads a replica',
    };
    const run = (...args: string[]) => runLatchkey(args, { directory: home.directory, settings });
    assert.equal((await run('migrate')).code, 0);
    await postgres.waitForReplay();
    const report = ['report', 'machines', '--from', '2027-01-01', '--to', '2027-01-01', '--json'];
    const fresh = await run(...report);
    assert.deepEqual([fresh.code, /replica/u.test(fresh.stderr)], [0, false], fresh.stderr);
    await postgres.standby.query('select pg_wal_replay_pause()');
    try {
      await addFact();
      const lagging = await waitForLag(() => run(...report));
      assert.equal(lagging.stdout, fresh.stdout);
      assert.match(lagging.stderr, /it is \d+ s behind, and 1 s are allowed/u);
    } finally {
      await postgres.standby.query('select pg_wal_replay_resume()');
    }
  },
);

/** Repeats a command until it reports on standard error. */
async function waitForLag(run: () => ReturnType<typeof runLatchkey>) {
  let last = await run();
  await eventually(async () => {
    last = /behind/u.test(last.stderr) ? last : await run();
    return /behind/u.test(last.stderr);
  });
  return last;
}
