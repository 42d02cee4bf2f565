import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/schema';

import { runLatchkey } from '../../test/command-line.ts';

const directory = await mkdtemp(join(tmpdir(), 'latchkey-upgrade-'));
after(() => rm(directory, { recursive: true }));

const SECRET = 'a master secret of the tests of upgrades';

const MIB = 1_048_576;

/** The sizes in a plan. */
const Plan = Type.Object({ bytes: Type.Integer(), bytes_needed: Type.Integer() });

let directories = 0;

/** Creates a data directory, in which each of these clusters has nothing but its version. */
async function createData(clusters: Readonly<Record<string, string>>): Promise<string> {
  const data = join(directory, String((directories += 1)));
  await mkdir(data, { mode: 0o700 });
  for (const [name, major] of Object.entries(clusters)) {
    await mkdir(join(data, name));
    await writeFile(join(data, name, 'PG_VERSION'), `${major}\n`);
  }
  return data;
}

const run = (data: string, ...args: string[]) =>
  runLatchkey(['upgrade-database', ...args], {
    directory,
    settings: { LATCHKEY_DATA_DIR: data, LATCHKEY_SECRET: SECRET },
  });

const KEPT = 'postgres-17-2026-11-28';

test('has nothing to do without a database, and with one of this version', async () => {
  const none = await run(await createData({}));
  assert.match(none.stdout, /^There is no database in .*: the first start creates it\.$/m);
  const data = await createData({ postgres: '18', [KEPT]: '17', upgrade: '' });
  const current = await run(data);
  assert.match(current.stdout, /^The database is of PostgreSQL 18, .* nothing to upgrade\.$/m);
  assert.match(current.stderr, /postgres-17-2026-11-28 has old data/);
  assert.deepEqual((await readdir(data)).toSorted(), ['postgres', KEPT]);
});

test('removes old data only when the database is of this version, and only on request', async () => {
  const data = await createData({ postgres: '18', [KEPT]: '17', 'postgres-mine': '17' });
  assert.equal((await run(data, '--remove-old', '--dry-run')).code, 2);
  const { stdout } = await run(data, '--remove-old', '--json');
  assert.deepEqual(JSON.parse(stdout), { removed: [join(data, KEPT)] });
  assert.deepEqual((await readdir(data)).toSorted(), ['postgres', 'postgres-mine']);
  const without = await createData({ [KEPT]: '17' });
  const refused = await run(without, '--remove-old');
  assert.match(refused.stderr, /^latchkey: Nothing was removed: /);
  assert.deepEqual(await readdir(without), [KEPT]);
});

test('completes an interrupted exchange, and removes no old data before', async () => {
  const data = await createData({ [KEPT]: '17', upgrade: '' });
  await mkdir(join(data, 'upgrade/postgres'));
  await writeFile(join(data, 'upgrade/postgres/PG_VERSION'), '18\n');
  const journal = JSON.stringify({ from: '17', to: '18', kept: KEPT });
  await writeFile(join(data, 'upgrade/journal.json'), journal);
  assert.match((await run(data, '--remove-old')).stderr, /^latchkey: Nothing was removed: /);
  assert.match((await run(data, '--dry-run')).stdout, /^An upgrade was interrupted /);
  const completed = await run(data, '--json');
  const kept = join(data, KEPT);
  const expected = { upgraded: true, from: '17', to: '18', kept };
  assert.deepEqual(JSON.parse(completed.stdout), expected);
  assert.deepEqual((await readdir(data)).toSorted(), ['postgres', KEPT]);
});

test('plans by the size of the database without its write-ahead log', async () => {
  const data = await createData({ postgres: '11' });
  const programs = join(directory, 'programs');
  await mkdir(programs);
  const program = "#!/bin/sh\necho 'postgres (PostgreSQL) 11.0'\n";
  await writeFile(join(programs, 'postgres'), program, { mode: 0o755 });
  await chmod(directory, 0o755);
  await mkdir(join(data, 'postgres/pg_wal'));
  await writeFile(
    join(data, 'postgres/pg_wal/000000010000000000000001'),
    Buffer.alloc(16 * MIB, 1),
  );
  await writeFile(join(data, 'postgres/base'), Buffer.alloc(2 * MIB, 1));
  const plan = ['--dry-run', '--old-binaries', programs];
  const { bytes, bytes_needed } = Parse(
    Plan,
    JSON.parse((await run(data, ...plan, '--json')).stdout),
  );
  assert.ok(bytes >= 2 * MIB && bytes < 3 * MIB, String(bytes));
  assert.equal(bytes_needed, bytes + 512 * MIB);
});

test('refuses a newer database, and an old one without its programs, and changes nothing', async () => {
  const newer = await run(await createData({ postgres: '99' }));
  assert.match(newer.stderr, /PostgreSQL 99, .*: start the newer version of Latchkey\.$/m);
  const old = await createData({ postgres: '11' });
  const { code, stderr } = await run(old, '--dry-run');
  assert.equal(code, 78);
  assert.match(stderr, /install Debian's package postgresql-11, or .* --old-binaries\.$/m);
  const named = await run(old, '--old-binaries', directory);
  assert.match(
    named.stderr,
    /^latchkey: .*\/postgres does not run \(.*(?:ENOENT|EACCES)\): install it again/,
  );
  assert.deepEqual(await readdir(old), ['postgres']);
});

test('refuses a PostgreSQL of your own', async () => {
  const settings = { DATABASE_URL: 'postgres://db.example/latchkey', LATCHKEY_SECRET: SECRET };
  const { code, stderr } = await runLatchkey(['upgrade-database'], { directory, settings });
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^latchkey: DATABASE_URL names a PostgreSQL of your own: /);
});
