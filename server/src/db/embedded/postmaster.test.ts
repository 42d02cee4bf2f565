import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import * as embedded from '../../../test/embedded-postgres.ts';

import { findPostmaster } from './postmaster.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './start.ts';

const run = promisify(execFile);

/** Root as in a container: it cannot inspect the processes of other accounts. */
const WITHOUT_PTRACE = ['--bounding-set=-sys_ptrace', '--inh-caps=-sys_ptrace'];

const options = { skip: findObstacle() };

let directory: string;
let data: string;
let cluster: string;
let postgres: EmbeddedPostgres;

before(async () => {
  if (options.skip !== false) return;
  directory = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-hidden-')));
  data = join(directory, 'data');
  cluster = join(data, 'postgres');
  const log = embedded.createRecordingLog();
  postgres = await startEmbeddedPostgres({ dataDirectory: data, durable: false, log });
});

after(async () => {
  if (options.skip !== false) return;
  await postgres.stop();
  await embedded.removeDirectory(directory);
});

function findObstacle(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux';
  try {
    execFileSync('setpriv', [...WITHOUT_PTRACE, 'true'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'setpriv is missing, or cannot drop the capability';
  }
}

/** Runs lines of a module in this directory, and returns their output. */
async function runWithoutPtrace(lines: string): Promise<string> {
  const code = lines.replaceAll(/'\.\/[\w-]+\.ts'/gu, (name) =>
    JSON.stringify(new URL(name.slice(1, -1), import.meta.url).href),
  );
  const node = [process.execPath, '--input-type=module', '--eval', code];
  const { stdout } = await run('setpriv', [...WITHOUT_PTRACE, ...node]);
  return stdout;
}

test('root without CAP_SYS_PTRACE finds the server and connects', options, async () => {
  const found = await runWithoutPtrace(`
    import { readlinkSync } from 'node:fs';
    import { findEmbeddedPostgres } from './connection.ts';
    import { findPostmaster } from './postmaster.ts';
    const pid = await findPostmaster(${JSON.stringify(cluster)});
    let hidden = false;
    try { readlinkSync('/proc/' + pid + '/cwd'); } catch { hidden = true; }
    const connection = await findEmbeddedPostgres(${JSON.stringify(data)});
    console.log(JSON.stringify({ pid, hidden, reached: connection !== null }));
    process.exit();
  `);
  assert.deepEqual(JSON.parse(found), {
    pid: await findPostmaster(cluster),
    hidden: true,
    reached: true,
  });
});

test(
  'root without CAP_SYS_PTRACE does not mistake another program of the account for the server',
  options,
  async () => {
    const file = join(cluster, 'postmaster.pid');
    const genuine = await readFile(file);
    const { uid } = await stat(cluster);
    const other = spawn('sleep', ['30'], { uid, stdio: 'ignore' });
    try {
      await writeFile(file, String(other.pid));
      const found = await runWithoutPtrace(`
      import { findPostmaster } from './postmaster.ts';
      console.log(await findPostmaster(${JSON.stringify(cluster)}));
    `);
      assert.equal(found, 'null\n');
    } finally {
      other.kill('SIGKILL');
      await writeFile(file, genuine);
    }
  },
);
