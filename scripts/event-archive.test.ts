/** Runs the query of the page on archives in DuckDB. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { storePastDay } from '../server/test/archived-events.ts';
import { queryDuckDb } from '../server/test/duckdb.ts';
import { openCommandLine } from '../server/test/test-command-line.ts';
import { repository } from './lib/steps.ts';

const page = readFileSync(join(repository, 'docs/operations/event-archive.md'), 'utf8');

const { directory, pool, run } = await openCommandLine();
const place = join(directory, 'archive');

/** The queries of the page, on the archive of the test. */
const [countEvents, findInstall, eraseInstall] = Array.from(
  page.matchAll(/```sql\n(.*?)```/gsu),
  ([, sql = '']) => sql.replaceAll('/var/lib/latchkey-archive', place),
);

const EXAMPLE = '6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d';

async function countStored(where: string) {
  const { rows } = await pool.query(`
    select to_char(received_at at time zone 'UTC', 'YYYY-MM-DD') as day, name, count(*)::text as events,
           count(distinct install_id)::text as installs
    from events where ${where} group by 1, 2 order by 1, name collate "C"`);
  return rows;
}

interface CountedName {
  readonly name: string;
  readonly events: number;
}

function byName(a: CountedName, b: CountedName): number {
  return a.name < b.name ? -1 : 1;
}

test('the DuckDB queries count and erase archived events', async () => {
  for (const day of ['2026-04-30', '2026-05-30', '2026-05-31']) await storePastDay(pool, day, 30);
  await pool.query(
    `update events set install_id = $1 where received_at >= '2026-05-31' and name = 'saved'`,
    [EXAMPLE],
  );
  await run('report', 'refresh');
  const expected = await countStored(`received_at >= '2026-05-01' and props->>'plan' = 'pro'`);
  const kept = await countStored(`received_at >= '2026-05-31' and install_id <> '${EXAMPLE}'`);
  await mkdir(place);
  const { code, stderr } = await run('events', 'archive', '--before', '2026-06-01', '--to', place);
  assert.equal(code, 0, stderr);

  const counted = await queryDuckDb(countEvents ?? '');
  assert.deepEqual([counted.length, counted], [6, expected]);
  assert.deepEqual(await queryDuckDb(findInstall ?? ''), [{ day: '2026-05-31', events: '10' }]);
  await queryDuckDb(eraseInstall ?? '');
  const dayPlace = join(place, 'events/day=2026-05-31');
  await rename(join(dayPlace, 'erased.parquet'), join(dayPlace, 'events.parquet'));
  assert.deepEqual(await queryDuckDb(findInstall ?? ''), []);

  const days = ['--from', '2026-05-31', '--to', '2026-05-31', '--archive', place];
  const report = await run('report', 'events', '--by', 'day', ...days, '--json');
  assert.equal(report.code, 0, report.stderr);
  const { rows } = JSON.parse(report.stdout);
  assert.deepEqual(
    rows.toSorted(byName).map(({ name, events }: CountedName) => [name, events]),
    kept.map(({ name, events }) => [name, Number(events)]),
  );
});
