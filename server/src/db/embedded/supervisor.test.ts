import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, open, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { eventually } from '../../../test/eventually.ts';

import { launchServer } from './supervisor.ts';

test('sends the immediate shutdown to its own child, not to the process in the lock file', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-supervisor-'));
  const report = join(directory, 'report');
  const bystander = spawn('sleep', ['60'], { stdio: 'ignore' });
  t.after(() => bystander.kill('SIGKILL'));
  await writeFile(join(directory, 'postmaster.pid'), `${bystander.pid}\n`);
  // A server on which the fast shutdown (SIGINT) hangs.
  const hangingServer = `#!${process.execPath}
    const write = (line) => require('node:fs').appendFileSync('${report}', line + '\\n');
    process.on('SIGINT', () => {}).on('SIGQUIT', () => { write('quit'); process.exit(); });
    write('ready');
    setInterval(() => {}, 60_000);`;
  const program = join(directory, 'postgres');
  await writeFile(program, hangingServer, { mode: 0o755 });
  const log = await open(join(directory, 'log'), 'a');
  const server = launchServer({
    postgres: program,
    args: [],
    account: null,
    cluster: directory,
    dataPath: directory,
    logDescriptor: log.fd,
  });
  await eventually(async () => (await readReport(report)) === 'ready\n');
  await server.stop(1);
  await log.close();
  assert.equal(await readReport(report), 'ready\nquit\n');
  assert.deepEqual([bystander.exitCode, bystander.signalCode], [null, null]);
});

async function readReport(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    // Not written yet.
    return '';
  }
}
