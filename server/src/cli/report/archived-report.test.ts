import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';

import { listStoredDays, storePastDay } from '../../../test/archived-events.ts';
import { openCommandLine } from '../../../test/test-command-line.ts';

const { directory, pool, run } = await openCommandLine();

const place = join(directory, 'archive');
const RANGE = ['--from', '2026-03-01', '--to', '2026-03-06'];
const REPORTS = [
  ['events'],
  ['events', '--by', 'day'],
  ['events', '--name', 'opened'],
  ['events', '--name', 'saved', '--by', 'version'],
  ['props', '--name', 'opened'],
  ['props', '--name', 'saved', '--key', 'text'],
];

async function report(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run('report', ...args, ...RANGE, '--csv');
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

const reportAll = (...more: string[]) =>
  REPORTS.reduce<Promise<string[]>>(
    async (all, args) => [...(await all), await report([...args, ...more])],
    Promise.resolve([]),
  );

let expected: readonly string[] = [];

before(async () => {
  await mkdir(place);
  // More values than a roll-up has rows for, so that the rest is summed.
  await storePastDay(pool, '2026-03-02', 3_000);
  await storePastDay(pool, '2026-03-03', 70);
  await storePastDay(pool, '2026-03-05', 40);
  await run('report', 'refresh');
  expected = await reportAll();
  const { code } = await run('events', 'archive', '--before', '2026-03-04', '--to', place);
  assert.equal(code, 0);
  assert.deepEqual(await listStoredDays(pool), ['2026-03-05']);
});

test('reports the same numbers after the archive, from its roll-ups', async () => {
  assert.equal(expected.length, REPORTS.length);
  for (const text of expected) assert.ok(text.split('\r\n').length > 2, text);
  assert.deepEqual(await reportAll(), expected);
});

describe('--archive', () => {
  test('reports the same numbers from the files, and changes no roll-up', async () => {
    const tables = ['event_name_days', 'event_days', 'event_prop_days'];
    for (const table of tables) await pool.query(`delete from ${table} where day < '2026-03-04'`);
    const [without] = await reportAll();
    assert.notEqual(without, expected[0]);
    assert.deepEqual(await reportAll('--archive', place), expected);
    const [after] = await reportAll();
    assert.equal(after, without);
    assert.deepEqual(await listStoredDays(pool), ['2026-03-05']);
  });

  test('reads only the days of the range', async () => {
    const days = ['--from', '2026-03-03', '--to', '2026-03-03', '--archive', place];
    const { stdout } = await run('report', 'events', ...days, '--csv');
    const counted = stdout
      .split('\r\n')
      .slice(1, -1)
      .map((line) => Number(line.split(',')[1]));
    assert.equal(
      counted.reduce((sum, events) => sum + events, 0),
      70,
    );
  });

  test('rejects an archive that does not exist with exit code 1', async () => {
    const missing = ['--archive', join(directory, 'missing')];
    const { code, stdout, stderr } = await run('report', 'events', ...RANGE, ...missing);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(
      stderr,
      /^latchkey: The directory .*missing does not exist: create it first\.\n$/u,
    );
  });
});
