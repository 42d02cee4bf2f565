/** Runs the script that dpkg runs before it replaces a version, on data directories of several versions of PostgreSQL. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { renderScripts } from '../deb/pack-product.ts';

const run = promisify(execFile);
const folder = new URL('../files/service', import.meta.url).pathname;

let directory = '';
let settings = '';
let data = '';

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-cluster-'));
  settings = join(directory, 'latchkey.env');
  data = join(directory, 'data of the service');
  await mkdir(join(data, 'postgres'), { recursive: true });
  // A disk with 700 MiB free.
  await mkdir(join(directory, 'bin'));
  const df = `#!/bin/sh\nprintf 'Filesystem\\nnone 1 1 716800 1%% /\\n'\n`;
  await writeFile(join(directory, 'bin/df'), df, { mode: 0o755 });
});
after(() => rm(directory, { recursive: true }));

interface Package {
  readonly earlier?: string;
  readonly settings?: string;
}

/** Runs the script for data of a version, and returns what it reports; an empty text if it lets dpkg go on. */
async function check(major: string, { earlier = '', settings: lines }: Package = {}) {
  await writeFile(join(data, 'postgres/PG_VERSION'), `${major}\n`);
  await writeFile(settings, lines ?? `LATCHKEY_DATA_DIR='${data}'\n`);
  const cluster = await readFile(join(folder, 'cluster.sh'), 'utf8');
  const variables = { CLUSTER: cluster, MAJOR: '18', EARLIER: earlier };
  const { preinst = '' } = await renderScripts(folder, Object.entries(variables));
  const script = preinst.replaceAll('/etc/latchkey/latchkey.env', settings);
  const env = { PATH: `${join(directory, 'bin')}:${process.env['PATH']}` };
  try {
    await run('sh', ['-c', script, 'preinst', 'upgrade', '1.0.0'], { env });
    return '';
  } catch (error) {
    assert.ok(error instanceof Error && 'stderr' in error && 'code' in error && error.code === 1);
    return String(error.stderr);
  }
}

test('lets dpkg go on for data of the same version, and for an earlier one whose programs it brings', async () => {
  assert.equal(await check('18'), '');
  assert.equal(await check('11', { earlier: '11' }), '');
});

test('refuses data of an earlier version that nothing reads', async () => {
  assert.equal(
    await check('11', { earlier: '17 1' }),
    `latchkey: the database in ${data}/postgres is of PostgreSQL 11, and this package has PostgreSQL 18: install postgresql-11 first, which reads it, or a version of latchkey between both. Nothing was changed.\n`,
  );
});

test('refuses data of a newer version', async () => {
  assert.match(await check('19'), /PostgreSQL 18: install the newer version of latchkey\. Nothing/);
});

test('refuses a disk on which both databases have no place', async () => {
  const file = join(data, 'postgres/relation');
  await writeFile(file, Buffer.alloc(200 * 1_048_576, 1));
  const report = await check('11', { earlier: '11' });
  await rm(file);
  assert.match(report, /moving it needs 71\d MiB of disk space, and 700 MiB are free\. Nothing/);
});

test('reads the settings as Node.js does, and ignores the data beside another database', async () => {
  const other = join(directory, 'missing');
  const found = [
    `LATCHKEY_DATA_DIR="${data}"`,
    ` export LATCHKEY_DATA_DIR = '${data}'`,
    `LATCHKEY_DATA_DIR=${other}\nLATCHKEY_DATA_DIR=${data}   # the last one counts`,
    `#DATABASE_URL='postgres://db/latchkey'\nDATABASE_URL=\nLATCHKEY_DATA_DIR='${data}'`,
  ];
  for (const lines of found) assert.notEqual(await check('11', { settings: lines }), '', lines);
  const ignored = [
    `LATCHKEY_DATA_DIR='${data}'\nDATABASE_URL='postgres://db/latchkey'`,
    `DATABASE_URL_FILE=/run/url\nLATCHKEY_DATA_DIR='${data}'`,
    `#LATCHKEY_DATA_DIR='${data}'\nLATCHKEY_DATA_DIR='${other}'`,
  ];
  for (const lines of ignored) assert.equal(await check('11', { settings: lines }), '', lines);
});
