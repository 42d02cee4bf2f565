import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { openArchive } from '#server/features/analytics/archive/open-archive.ts';
import { summarizeFile } from '#server/features/analytics/archive/read-file.ts';

import { listStoredDays, storePastDay } from '../archived-events.ts';
import { eventually } from '../eventually.ts';
import { inheritedVariables } from '../inherited-variables.ts';
import { openObjectStorage } from '../object-storage.ts';
import { openCommandLine } from '../test-command-line.ts';

const storage = await openObjectStorage();
const { directory, pool, run, settings } = await openCommandLine(storage.env);

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const preload = new URL('./kill-at.mjs', import.meta.url).href;

/** Runs the archive in a process of its own, kills it at a step, and returns its id. */
async function killAt(step: string, args: readonly string[]): Promise<number | undefined> {
  const child = spawn(process.execPath, ['--import', preload, program, ...args], {
    cwd: directory,
    env: { ...inheritedVariables(), ...settings, TMPDIR: tmpdir(), KILL_AT: step },
    stdio: 'ignore',
  });
  const [, signal] = await once(child, 'exit');
  assert.equal(signal, 'SIGKILL');
  await eventually(isUnlocked);
  return child.pid;
}

/** PostgreSQL notices soon after a kill that the connection which held the lock has ended. */
async function isUnlocked(): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from pg_locks join pg_database as database on database.oid = pg_locks.database
     where locktype = 'advisory' and datname = current_database()`,
  );
  return rowCount === 0;
}

const PARTIAL = 'partial';
const COMPLETE = 'events.parquet';

/** The steps, and the files that the killed process leaves. */
const DIRECTORY = [
  ['while the file is written', [PARTIAL]],
  ['before the file is recorded', [PARTIAL]],
  ['before the link', [PARTIAL]],
  ['after the link', [COMPLETE, PARTIAL]],
  ['after the temporary name is removed', [COMPLETE]],
  ['before the drop', [COMPLETE]],
  ['before the commit of the drop', [COMPLETE]],
] as const;

/** The steps of writing a file again. */
const REPLACED = ['before the rename', 'after the rename'];

const OBJECT_STORAGE = ['before the upload', 'after the upload', 'before the drop'];

let nextDay = 1;

/** Kills an archive of one day, and runs it again. */
async function killAndFinish(
  step: string,
  args: readonly string[],
  examine: (temporary: readonly string[]) => Promise<void>,
): Promise<void> {
  const [day = ''] = await listStoredDays(pool);
  const pid = await killAt(step, args);
  assert.deepEqual(await listStoredDays(pool), [day]);
  await examine(await listTemporary(pid));
  const { code, stderr, stdout } = await run(...args, '--json');
  assert.equal(code, 0, stderr);
  assert.deepEqual(await listTemporary(pid), []);
  const { days } = JSON.parse(stdout);
  assert.deepEqual([days[0].day, days[0].events, days[0].dropped], [day, 40, true]);
  assert.deepEqual(await listStoredDays(pool), []);
  const archive = await openArchive(args[5] ?? '', storage.env);
  const file = await archive.open(day);
  assert.ok(file);
  assert.equal((await summarizeFile(file, () => {})).events, 40);
  const drops = `select from audit_log where action = 'events.drop' and subject_id = $1`;
  assert.equal((await pool.query(drops, [day])).rowCount, 1);
}

/** Stores a day, and returns the command that archives it. */
async function prepare(place: string): Promise<readonly string[]> {
  const day = `2026-03-${String(nextDay++).padStart(2, '0')}`;
  await storePastDay(pool, day, 40);
  await run('report', 'refresh');
  return ['events', 'archive', '--before', '2026-04-01', '--to', place];
}

/** Returns the temporary directories of a process. */
async function listTemporary(pid: number | undefined): Promise<string[]> {
  const names = await readdir(tmpdir());
  return names.filter((name) => name.startsWith(`latchkey-archive-${pid}-`));
}

/** Returns the names of files, those of incomplete ones without their random part. */
async function listFiles(place: string): Promise<string[]> {
  const names = await readdir(place, { recursive: true });
  return names
    .filter((name) => name.includes('.'))
    .map((name) => (name.endsWith('.partial') ? PARTIAL : basename(name)))
    .toSorted();
}

describe('a killed archive is finished by the next run, and loses no event', () => {
  for (const [step, left] of DIRECTORY) {
    test(`directory, ${step}`, async () => {
      const place = await mkdtemp(join(directory, 'archive-'));
      await killAndFinish(step, await prepare(place), async () => {
        assert.deepEqual(await listFiles(place), left);
      });
      assert.deepEqual(await listFiles(place), [COMPLETE]);
    });
  }
  for (const step of REPLACED) {
    test(`directory, ${step} that replaces a file`, async () => {
      const place = await mkdtemp(join(directory, 'archive-'));
      const args = await prepare(place);
      assert.equal((await run(...args, '--keep')).code, 0);
      await pool.query(`update events set app_version = '2'`);
      await killAndFinish(step, [...args, '--replace'], async () => {
        assert.equal((await listFiles(place)).includes(COMPLETE), true);
      });
      assert.deepEqual(await listFiles(place), [COMPLETE]);
    });
  }
  for (const step of OBJECT_STORAGE) {
    test(`object storage, ${step}`, async () => {
      storage.objects.clear();
      await killAndFinish(step, await prepare('s3://archive/killed'), async (temporary) => {
        assert.equal(temporary.length, step === 'before the drop' ? 0 : 1);
        assert.equal(storage.objects.size, step === 'before the upload' ? 0 : 1);
      });
    });
  }
});
