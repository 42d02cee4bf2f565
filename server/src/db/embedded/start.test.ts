import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { StartupError } from '#server/config/startup-error.ts';

import * as embedded from '../../../test/embedded-postgres.ts';
import { eventually } from '../../../test/eventually.ts';

import { findEmbeddedPostgres } from './connection.ts';
import { findPostmaster, stopOrphan } from './postmaster.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './start.ts';

/** Above the highest id of Linux (PID_MAX_LIMIT). */
const UNUSED_PID = 4_194_305;

let directory: string;

/** A data directory that the tests use one after the other. */
let data: string;
let cluster: string;

before(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-embedded-')));
  data = join(directory, 'data');
  cluster = join(data, 'postgres');
  await embedded.createCluster(data);
});

after(() => embedded.removeDirectory(directory));

function start(dataDirectory = data): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    dataDirectory,
    durable: false,
    log: embedded.createRecordingLog(),
  });
}

async function startupProblem(starting: Promise<EmbeddedPostgres>): Promise<string> {
  try {
    await (await starting).stop();
  } catch (error) {
    assert.ok(error instanceof StartupError, String(error));
    assert.equal(error.exitCode, 78);
    return error.problems.join('\n');
  }
  throw new assert.AssertionError({ message: 'the database started' });
}

test('keeps data across a stop and a start', async () => {
  const first = await start();
  await embedded.queryOnce(first.connection, 'create table kept as select 42 as answer');
  await first.stop();
  const second = await start();
  const rows = await embedded.queryOnce(second.connection, 'select answer from kept');
  await second.stop();
  assert.deepEqual(rows, [{ answer: 42 }]);
});

test('leaves no process and no lock after a stop', async () => {
  const postgres = await start();
  await postgres.stop();
  assert.equal(await findPostmaster(cluster), null);
  assert.deepEqual(await readdir(data), ['postgres', 'postgres.log']);
});

test('only the owner can enter the cluster, and no port is open', async () => {
  const postgres = await start();
  const rows = await embedded.queryOnce(
    postgres.connection,
    `select current_setting('listen_addresses') as addresses, current_setting('data_checksums') as checksums,
            current_setting('server_encoding') as encoding, current_setting('timezone') as zone`,
  );
  await postgres.stop();
  assert.deepEqual(rows, [{ addresses: '', checksums: 'on', encoding: 'UTF8', zone: 'UTC' }]);
  assert.equal((await stat(cluster)).mode & 0o777, 0o700);
});

test('a durable cluster syncs every commit', async () => {
  const log = embedded.createRecordingLog();
  const postgres = await startEmbeddedPostgres({ dataDirectory: data, log });
  const rows = await embedded.queryOnce(
    postgres.connection,
    `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
            current_setting('full_page_writes') as pages`,
  );
  await postgres.stop();
  assert.deepEqual(rows, [{ fsync: 'on', commit: 'on', pages: 'on' }]);
});

test('restarts a killed server, with all commits', async () => {
  const log = embedded.createRecordingLog();
  const postgres = await startEmbeddedPostgres({ dataDirectory: data, log });
  await embedded.queryOnce(postgres.connection, 'create table survivor as select 7 as n');
  const pid = await findPostmaster(cluster);
  assert.ok(pid !== null);
  process.kill(pid, 'SIGKILL');
  const isBack = () => log.messages.includes('the database server runs again');
  await eventually(isBack, { describe: () => log.messages.join('\n') });
  const rows = await embedded.queryOnce(postgres.connection, 'select n from survivor');
  assert.notEqual(await findPostmaster(cluster), pid);
  await postgres.stop();
  assert.deepEqual(rows, [{ n: 7 }]);
});

test('a stop during a restart ends the server', async () => {
  const postgres = await start();
  const pid = await findPostmaster(cluster);
  assert.ok(pid !== null);
  process.kill(pid, 'SIGKILL');
  await eventually(async () => (await findPostmaster(cluster)) !== pid);
  await postgres.stop();
  assert.equal(await findPostmaster(cluster), null);
});

test('rejects a directory that another process uses, names the process and leaves it running', async () => {
  const owner = await embedded.startDatabaseProcess(data);
  const problem = await startupProblem(start());
  assert.notEqual(await findEmbeddedPostgres(data), null);
  owner.kill('SIGKILL');
  assert.ok(
    problem.includes(`${data} is in use by another Latchkey, process ${owner.pid}:`),
    problem,
  );
});

test('the server ends when its service is killed, and the next start succeeds', async (t) => {
  if (process.platform !== 'linux') return t.skip('needs /proc');
  const owner = await embedded.startDatabaseProcess(data);
  assert.notDeepEqual(await embedded.listProcessesIn(cluster), []);
  owner.kill('SIGKILL');
  const postgres = await start();
  await postgres.stop();
  const isGone = async () => (await embedded.listProcessesIn(cluster)).length === 0;
  await eventually(isGone, { describe: () => 'some of its processes still run' });
});

test('starts over lock files whose process id was reused', async () => {
  await writeFile(join(data, 'latchkey.lock'), `${process.ppid} 1\n`);
  await writeFile(join(cluster, 'postmaster.pid'), `${process.ppid}\n${cluster}\n1\n5432\n.\n`);
  const postgres = await start();
  await postgres.stop();
});

test('removes a lock file whose process id may be reused before the server starts', async () => {
  await writeFile(join(cluster, 'postmaster.pid'), `${UNUSED_PID}\n${cluster}\n1\n5432\n.\n`);
  await stopOrphan(cluster, embedded.createRecordingLog());
  assert.ok(!(await readdir(cluster)).includes('postmaster.pid'));
});

test('does not start beside a process of a killed server, whose lock file it removes', async (t) => {
  if (process.platform !== 'linux') return t.skip('needs /proc');
  const owner = await embedded.startDatabaseProcess(data);
  const pid = await findPostmaster(cluster);
  assert.ok(pid !== null);
  const survivor = (await embedded.listProcessesIn(cluster)).find((child) => child !== pid);
  assert.ok(survivor !== undefined);
  process.kill(survivor, 'SIGSTOP');
  owner.kill('SIGKILL');
  process.kill(pid, 'SIGKILL');
  const isGone = async () => (await findPostmaster(cluster)) === null;
  await eventually(isGone);
  const problem = await startupProblem(start());
  process.kill(survivor, 'SIGKILL');
  assert.match(problem, /pre-existing shared memory block/);
  const postgres = await start();
  await postgres.stop();
});

test('findEmbeddedPostgres returns the connection of a running service, else null', async () => {
  assert.equal(await findEmbeddedPostgres(data), null);
  const postgres = await start();
  const found = await findEmbeddedPostgres(data);
  await postgres.stop();
  assert.deepEqual(found, postgres.connection);
  assert.equal(await findEmbeddedPostgres(data), null);
  assert.equal(await findEmbeddedPostgres(join(directory, 'nothing-here')), null);
});

test('runs in a directory whose path is too long for a socket', async (t) => {
  if (process.platform !== 'linux') return t.skip('needs /proc');
  const long = join(directory, 'a'.repeat(80), 'b'.repeat(80));
  await embedded.copyCluster(data, long);
  const postgres = await start(long);
  const rows = await embedded.queryOnce(postgres.connection, 'select 1 as one');
  const found = await findEmbeddedPostgres(long);
  await postgres.stop();
  assert.deepEqual(rows, [{ one: 1 }]);
  assert.notEqual(found, null);
});

test('creates an interrupted cluster again, and removes its remains', async () => {
  const interrupted = join(directory, 'interrupted');
  await mkdir(join(interrupted, 'postgres.new-AbCdEf', 'base'), { recursive: true });
  await writeFile(join(interrupted, 'postgres.new-AbCdEf', 'PG_VERSION'), '18\n');
  const postgres = await start(interrupted);
  const rows = await embedded.queryOnce(postgres.connection, 'select 1 as one');
  await postgres.stop();
  assert.deepEqual(rows, [{ one: 1 }]);
  assert.deepEqual(await readdir(interrupted), ['postgres', 'postgres.log']);
});

test('rejects a cluster of another version, or another directory, and leaves it unchanged', async () => {
  const old = join(directory, 'old');
  await mkdir(join(old, 'postgres'), { recursive: true });
  await writeFile(join(old, 'postgres', 'PG_VERSION'), '15\n');
  assert.match(
    await startupProblem(start(old)),
    /was created by PostgreSQL 15, and .* includes PostgreSQL 18: run "latchkey upgrade-database"\.$/,
  );
  await writeFile(join(old, 'postgres', 'PG_VERSION'), '99\n');
  assert.match(
    await startupProblem(start(old)),
    /was created by PostgreSQL 99, and .* includes PostgreSQL 18: start the newer version of Latchkey\.$/,
  );
  await rm(join(old, 'postgres', 'PG_VERSION'));
  await writeFile(join(old, 'postgres', 'holiday.jpg'), '');
  assert.match(await startupProblem(start(old)), /old\/postgres contains no PostgreSQL database/);
  assert.deepEqual(await readdir(old), ['postgres']);
});

test('reports why the server cannot start in its own words', async () => {
  const broken = join(directory, 'broken');
  await embedded.copyCluster(data, broken);
  await writeFile(join(broken, 'postgres', 'postgresql.conf'), 'shared_buffers = a lot\n');
  const problem = await startupProblem(start(broken));
  assert.match(
    problem,
    /^The embedded PostgreSQL does not start: .*postgresql\.conf.*Its log is .*postgres\.log\.$/,
  );
});

test('creates no empty cluster in the place of one that an interrupted upgrade has moved', async () => {
  const interrupted = join(directory, 'interrupted-upgrade');
  const kept = 'postgres-17-2026-11-28';
  for (const moved of [kept, join('upgrade', 'postgres')]) {
    await mkdir(join(interrupted, moved), { recursive: true });
    await writeFile(join(interrupted, moved, 'PG_VERSION'), '');
  }
  const journal = JSON.stringify({ from: '17', to: '18', kept });
  await writeFile(join(interrupted, 'upgrade', 'journal.json'), journal);
  assert.match(
    await startupProblem(start(interrupted)),
    /was interrupted: run "latchkey upgrade-database" again to complete it\.$/,
  );
  assert.deepEqual(await readdir(interrupted), [kept, 'upgrade']);
});
