import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { openArchive } from '#server/features/analytics/archive/open-archive.ts';
import { summarizeFile } from '#server/features/analytics/archive/read-file.ts';

import { listStoredDays, storePastDay } from '../archived-events.ts';
import { inheritedVariables } from '../inherited-variables.ts';
import { openObjectStorage } from '../object-storage.ts';
import { openCommandLine } from '../test-command-line.ts';

const storage = await openObjectStorage();
const { directory, pool, run, settings } = await openCommandLine(storage.env);

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const preload = new URL('./kill-at.mjs', import.meta.url).href;

/** Runs the archive in a process of its own, and kills it at a step. */
async function killAt(step: string, args: readonly string[]): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, ['--import', preload, program, ...args], {
    cwd: directory,
    env: { ...inheritedVariables(), ...settings, TMPDIR: directory, KILL_AT: step },
    stdio: 'ignore',
  });
  const [, signal] = await once(child, 'exit');
  return signal;
}

const PARTIAL = '.events.parquet.partial';
const COMPLETE = 'events.parquet';

/** The steps, and the file that the killed process leaves. */
const DIRECTORY = [
  ['while the file is written', PARTIAL],
  ['before the rename', PARTIAL],
  ['after the rename', COMPLETE],
  ['before the day is recorded', COMPLETE],
  ['before the drop', COMPLETE],
  ['before the commit of the drop', COMPLETE],
] as const;
const OBJECT_STORAGE = ['before the upload', 'after the upload', 'before the drop'];

let nextDay = 1;

/** Kills an archive of one day, and runs it again. */
async function killAndFinish(
  step: string,
  place: string,
  examine: () => Promise<void>,
): Promise<void> {
  const day = `2026-03-${String(nextDay++).padStart(2, '0')}`;
  await storePastDay(pool, day, 40);
  await run('report', 'refresh');
  const args = ['events', 'archive', '--before', '2026-04-01', '--to', place];
  assert.equal(await killAt(step, args), 'SIGKILL');
  assert.deepEqual(await listStoredDays(pool), [day]);
  await examine();
  const { code, stderr, stdout } = await run(...args, '--json');
  assert.equal(code, 0, stderr);
  const { days } = JSON.parse(stdout);
  assert.deepEqual([days[0].day, days[0].events, days[0].dropped], [day, 40, true]);
  assert.deepEqual(await listStoredDays(pool), []);
  const archive = await openArchive(place, storage.env);
  const file = await archive.open(day);
  assert.ok(file);
  assert.equal((await summarizeFile(file, () => {})).events, 40);
  const drops = `select from audit_log where action = 'events.drop' and subject_id = $1`;
  assert.equal((await pool.query(drops, [day])).rowCount, 1);
}

async function listFiles(place: string): Promise<string[]> {
  const names = await readdir(place, { recursive: true });
  return names.map((name) => basename(name)).filter((name) => name.includes('.'));
}

describe('a killed archive is finished by the next run, and loses no event', () => {
  for (const [step, left] of DIRECTORY) {
    test(`directory, ${step}`, async () => {
      const place = await mkdtemp(join(directory, 'archive-'));
      await killAndFinish(step, place, async () => {
        assert.deepEqual(await listFiles(place), [left]);
      });
      assert.deepEqual(await listFiles(place), [COMPLETE]);
    });
  }
  for (const step of OBJECT_STORAGE) {
    test(`object storage, ${step}`, async () => {
      storage.objects.clear();
      await killAndFinish(step, 's3://archive/killed', async () => {
        assert.equal(storage.objects.size, step === 'before the upload' ? 0 : 1);
      });
    });
  }
});
