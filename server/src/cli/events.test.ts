import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { listPartitionDays } from '#server/features/analytics/queries/partitions.ts';

import { listStoredDays, storePastDay } from '../../test/archived-events.ts';
import { inheritedVariables } from '../../test/inherited-variables.ts';
import { openCommandLine } from '../../test/test-command-line.ts';

const { directory, pool, run, runJson, settings } = await openCommandLine();

const DAYS = ['2026-03-02', '2026-03-03'];

let place = '';

beforeEach(async () => {
  for (const day of await listPartitionDays(pool)) {
    await pool.query(`drop table events_${day.replaceAll('-', '_')}`);
  }
  await pool.query('truncate rollup_marks, event_archives');
  for (const day of DAYS) await storePastDay(pool, day, 20);
  assert.equal((await run('report', 'refresh')).code, 0);
  place = await mkdtemp(join(directory, 'archive-'));
});

const archiveArgs = (to: string) => ['events', 'archive', '--before', '2026-03-04', '--to', to];

async function countEntries(): Promise<number> {
  return (await pool.query(`select from audit_log where action like 'events.%'`)).rowCount ?? 0;
}

describe('exit code 0', () => {
  test('--dry-run lists the days, and changes nothing', async () => {
    const entries = await countEntries();
    const { code, stdout, stderr } = await run(...archiveArgs(place), '--dry-run');
    assert.deepEqual(
      [code, stderr, stdout.split('\n')],
      [
        0,
        '',
        [
          'DAY         EVENTS  HAS FILE',
          '2026-03-02  20      no',
          '2026-03-03  20      no',
          '',
          `Would archive 2 days with 40 events to ${place}.`,
          '',
        ],
      ],
    );
    assert.deepEqual([await readdir(place), await countEntries()], [[], entries]);
  });

  test('archives and drops the days before a date, with entries in the audit log', async () => {
    await storePastDay(pool, '2026-03-04', 1);
    const { code, stdout } = await run(...archiveArgs(place), '--reason', 'disk');
    assert.deepEqual(
      [code, stdout.split('\n')],
      [
        0,
        [
          'DAY         EVENTS  MB   WRITTEN  DROPPED',
          '2026-03-02  20      0.0  yes      yes',
          '2026-03-03  20      0.0  yes      yes',
          '',
          `Archived 2 days with 40 events (0.0 MB) to ${place}.`,
          '',
        ],
      ],
    );
    assert.deepEqual(await listStoredDays(pool), ['2026-03-04']);
    const { entries } = await runJson('audit', 'list', '--limit', '3');
    assert.deepEqual(
      entries.map((entry: Record<string, unknown>) => [
        entry['action'],
        entry['subject_id'],
        entry['reason'],
      ]),
      [
        ['events.drop', '2026-03-03', 'disk'],
        ['events.drop', '2026-03-02', 'disk'],
        ['events.archive', place, 'disk'],
      ],
    );
  });

  test('--keep writes the files and drops nothing', async () => {
    const { days, open_days: open } = await runJson(...archiveArgs(place), '--keep');
    assert.deepEqual(
      days.map((each: Record<string, unknown>) => [each['day'], each['written'], each['dropped']]),
      DAYS.map((day) => [day, true, false]),
    );
    assert.deepEqual([open, await listStoredDays(pool)], [[], DAYS]);
  });

  test('leaves days whose reports are not final', async () => {
    await pool.query(`update rollup_marks set measure = null where day = '2026-03-03'`);
    const { code, stdout, stderr } = await run(...archiveArgs(place));
    assert.equal(code, 0);
    assert.match(stdout, /^Archived 1 day with 20 events/mu);
    assert.match(stderr, /^Not closed yet, from 2026-03-03: 1 day\./u);
    assert.deepEqual(await listStoredDays(pool), ['2026-03-03']);
  });
});

/** An archive that fails: one sentence, no file, and no event is dropped. */
async function assertFails(to: string, message: RegExp): Promise<void> {
  const { code, stdout, stderr } = await run(...archiveArgs(to));
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, message);
  assert.deepEqual(await listStoredDays(pool), DAYS);
  assert.equal((await pool.query('select from event_archives')).rowCount, 0);
}

describe('exit code 1', () => {
  test('without the directory', async () => {
    const missing = join(place, 'missing');
    await assertFails(
      missing,
      /^latchkey: The directory \/.*missing does not exist: create it first\.\n$/u,
    );
    assert.deepEqual(await readdir(place), []);
  });

  test('with a file instead of a directory', async () => {
    const file = join(place, 'file');
    await writeFile(file, '');
    await assertFails(file, /^latchkey: The directory \/.*file cannot be read \(ENOTDIR\)\.\n$/u);
  });

  test('in a directory that cannot be written', { skip: process.platform !== 'linux' }, () =>
    assertFails(
      '/proc',
      /^latchkey: \/proc\/events\/day=2026-03-02\/events\.parquet cannot be written \(.+\)\.\n$/u,
    ),
  );

  test('on a full disk, without an incomplete file', { skip: mayMount() }, async () => {
    const disk = join(place, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', disk]);
    after(() => execFileSync('umount', [disk]));
    await storePastDay(pool, '2026-03-01', 10);
    await storePastDay(pool, '2026-02-28', 20_000);
    await run('report', 'refresh');
    const { code, stderr } = await run(...archiveArgs(disk));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^latchkey: \/.*disk\/events\/day=2026-02-28\/events\.parquet cannot be written \(the disk is full\)\.\n$/u,
    );
    assert.deepEqual(await readdir(disk), []);
    assert.deepEqual(await listStoredDays(pool), ['2026-02-28', '2026-03-01', ...DAYS]);
  });

  test(
    'beyond the largest file that the process may write',
    { skip: process.platform === 'win32' },
    async () => {
      await storePastDay(pool, '2026-03-01', 20_000);
      await run('report', 'refresh');
      const program = fileURLToPath(new URL('../main.ts', import.meta.url));
      const command = `ulimit -f 100; exec "$0" "$@"`;
      const args = ['-c', command, process.execPath, program, ...archiveArgs(place)];
      const { status, stderr } = spawnSync('sh', args, {
        cwd: directory,
        env: { ...inheritedVariables(), NODE_COMPILE_CACHE: '', ...settings },
        encoding: 'utf8',
      });
      assert.equal(status, 1);
      assert.match(
        stderr,
        /events\.parquet cannot be written \(the file is larger than allowed\)\.\n$/u,
      );
      assert.deepEqual(await readdir(place), []);
      assert.deepEqual(await listStoredDays(pool), ['2026-03-01', ...DAYS]);
    },
  );

  test('archives the other days when one fails', async () => {
    const file = await writeDamaged('2026-03-02');
    const { code, stdout, stderr } = await run(...archiveArgs(place));
    assert.deepEqual(
      [code, stdout.split('\n'), stderr],
      [
        1,
        [
          'DAY         EVENTS  MB   WRITTEN  DROPPED',
          '2026-03-03  20      0.0  yes      yes',
          '',
          `Archived 1 day with 20 events (0.0 MB) to ${place}; 1 day failed.`,
          '',
        ],
        `2026-03-02 failed: ${file} is damaged, and another database may have written it: archive to another directory or prefix, or move the file away.\n`,
      ],
    );
    assert.deepEqual(await listStoredDays(pool), ['2026-03-02']);
  });

  test('stops at an error that is not one of the day, and reports what was done', async () => {
    await storePastDay(pool, '2026-03-01', 10);
    await run('report', 'refresh');
    const path = join(place, 'events/day=2026-03-02/events.parquet');
    await mkdir(path, { recursive: true });
    const { code, stdout, stderr } = await run(...archiveArgs(place), '--json');
    const error = `${path} cannot be read (EISDIR: illegal operation on a directory, read).`;
    const { days, failed_days: failures, stopped_at: stoppedAt } = JSON.parse(stdout);
    assert.deepEqual(
      [code, days.map(({ day }: { day: string }) => day), failures, stoppedAt],
      [1, ['2026-03-01'], [{ day: '2026-03-02', error }], '2026-03-02'],
    );
    assert.equal(stderr, `2026-03-02 failed: ${error}\nStopped at 2026-03-02; not tried: 1 day.\n`);
    assert.deepEqual(await listStoredDays(pool), DAYS);
  });
});

/** Stores a file that is no archive of a day, and returns its path. */
async function writeDamaged(day: string): Promise<string> {
  const path = join(place, `events/day=${day}/events.parquet`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, 'PAR1');
  return path;
}

/** Returns why no disk can be mounted; false: one can. */
function mayMount(): string | false {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  return isRoot && spawnSync('unshare', ['--mount', 'true']).status === 0
    ? false
    : 'needs root on Linux';
}

test('rejects a date that is none, and options that exclude each other (exit code 2)', async () => {
  const args = ['events', 'archive', '--to', place];
  for (const [wrong, message] of [
    [['--before', '2026-02-30'], /^latchkey: .*Expected a date such as 2027-03-01\.$/mu],
    [[], /^latchkey: required option '--before <date>' not specified$/mu],
    [
      ['--before', '2026-03-04', '--dry-run', '--replace'],
      /^latchkey: option '--dry-run' cannot be used with option '--replace'$/mu,
    ],
  ] as const) {
    const { code, stderr } = await run(...args, ...wrong);
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
});
