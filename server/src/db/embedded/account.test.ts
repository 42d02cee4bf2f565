import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, realpath, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { StartupError } from '#server/config/startup-error.ts';

import * as embedded from '../../../test/embedded-postgres.ts';
import { eventually } from '../../../test/eventually.ts';

import { chooseAccount } from './account.ts';
import { findPostmaster } from './postmaster.ts';
import { startEmbeddedPostgres } from './start.ts';
import { findAccount } from './account.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const onlyRoot = { skip: isRoot && process.platform === 'linux' ? false : 'needs root' };
const NOBODY = 65_534;

let directory: string;

before(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-account-')));
});

after(() => embedded.removeDirectory(directory));

test('chooses no account for an ordinary user', { skip: isRoot }, async () => {
  assert.equal(await chooseAccount('postgres', null), null);
});

test('rejects an account that is unknown, root or shared by other programs', onlyRoot, async () => {
  for (const name of ['no-such-account', 'root', 'nobody']) {
    await assert.rejects(chooseAccount(name, null), StartupError, name);
  }
});

test('chooses another owner than root and nobody', onlyRoot, async () => {
  for (const uid of [0, NOBODY]) {
    const owned = join(directory, `owned-by-${uid}`);
    await mkdir(owned);
    await chown(owned, uid, uid);
    const account = await chooseAccount(undefined, await stat(owned));
    assert.deepEqual(account, await findAccount('latchkey'));
    assert.ok(account !== null && account.uid !== 0 && account.uid !== NOBODY);
  }
});

test('root keeps the owner of the cluster', onlyRoot, async () => {
  const owned = join(directory, 'owned');
  await mkdir(owned);
  await chown(owned, 12_345, 54_321);
  assert.deepEqual(await chooseAccount(undefined, await stat(owned)), { uid: 12_345, gid: 54_321 });
});

test(
  'runs PostgreSQL without privileges in a directory that only root may enter',
  onlyRoot,
  async () => {
    const secret = join(directory, 'secret');
    await mkdir(secret, { mode: 0o700 });
    const data = join(secret, 'data');
    const log = embedded.createRecordingLog();
    const postgres = await startEmbeddedPostgres({ dataDirectory: data, durable: false, log });
    const pid = await findPostmaster(join(data, 'postgres'));
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    await postgres.stop();
    const owner = (await stat(join(data, 'postgres'))).uid;
    assert.notEqual(owner, 0);
    assert.match(status, new RegExp(`^Uid:\\t${owner}\\t${owner}\\t${owner}\\t${owner}$`, 'm'));
  },
);

test('changes the owner of a cluster that root restored from a backup', onlyRoot, async () => {
  const data = join(directory, 'restored');
  await embedded.createCluster(data);
  await run('chown', ['-R', '0:0', data]);
  await run('chmod', ['755', join(data, 'postgres')]);
  const log = embedded.createRecordingLog();
  const postgres = await startEmbeddedPostgres({ dataDirectory: data, durable: false, log });
  const rows = await embedded.queryOnce(postgres.connection, 'select 1 as one');
  await postgres.stop();
  assert.deepEqual(rows, [{ one: 1 }]);
});

test('an ordinary user runs PostgreSQL under the own account', onlyRoot, async (t) => {
  const account = { uid: NOBODY, gid: NOBODY };
  const reachable = run(process.execPath, ['--version'], { ...account, cwd: '/' });
  if (
    !(await reachable.then(
      () => true,
      () => false,
    ))
  )
    return t.skip('no other account can enter this directory');
  const data = join(directory, 'ordinary');
  await mkdir(data);
  await chmod(directory, 0o755);
  await chown(data, account.uid, account.gid);
  const holder = await embedded.startDatabaseProcess(data, account);
  holder.kill('SIGKILL');
  const cluster = join(data, 'postgres');
  assert.equal((await stat(cluster)).uid, NOBODY);
  const isGone = async () => (await embedded.listProcessesIn(cluster)).length === 0;
  await eventually(isGone, { describe: () => 'some of its processes still run' });
});
