/**
 * The README's five minutes, run as a newcomer would: each `sh` block in order by a shell, with curl, against a service
 * in a process of its own; what stands in the block below it must be what comes out.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { createTestDatabase, type TestDatabase } from '../server/test/database.ts';
import { Examples } from './lib/examples.ts';
import { repository } from './lib/steps.ts';

const run = promisify(execFile);
const main = join(repository, 'server', 'src', 'main.ts');
const WRITTEN_URL = 'http://127.0.0.1:8080';

interface Step {
  readonly command: string;
  readonly language: string;
  readonly answer: string;
}

const directory = mkdtempSync(join(tmpdir(), 'latchkey-readme-'));
const hasCurl = spawnSync('curl', ['--version']).status === 0;
let database: TestDatabase;
let service: ChildProcess | undefined;
let url: string;

before(async () => {
  database = await createTestDatabase();
  service = spawn(process.execPath, [main, 'serve'], {
    cwd: directory,
    env: settings(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  url = await readUrl(service);
});

after(async () => {
  if (service !== undefined && service.exitCode === null) {
    const exited = new Promise((resolve) => service?.once('exit', resolve));
    service.kill('SIGTERM');
    await exited;
  }
  await database.drop();
  rmSync(directory, { recursive: true });
});

test('the five minutes of the README run as they stand, with the answers that it shows', async (t) => {
  if (!hasCurl) return t.skip('there is no curl on this machine');
  const steps = readSteps();
  assert.deepEqual(
    steps.map(({ command }) => /latchkey \w+ \w+|(?<=v1|8080)\/(?!api)\S+/.exec(command)?.[0]),
    [
      'latchkey license issue',
      '/licenses/activate',
      '/licenses/validate',
      '/licenses/$KEY/activations',
      '/licenses/deactivate',
      '/trial/start',
      '/.well-known/jwks.json',
      '/licenses/LK-NO-SUCH-KEY/activations',
    ],
  );
  const examples = new Examples();
  let variables = '';
  for (const { command, language, answer } of steps) {
    const script = examples.replaceIn(command).replaceAll(WRITTEN_URL, url);
    const shown = await runShell(`${variables}${script}`);
    variables += script.match(/^[A-Z]+=.*\n/gm)?.join('') ?? '';
    if (language === 'json') examples.matchJson(JSON.parse(answer), JSON.parse(shown), command);
    else examples.matchText(answer, shown, command);
  }
});

/** The blocks of the section, each command with the answer that follows it. */
function readSteps(): Step[] {
  const readme = readFileSync(join(repository, 'README.md'), 'utf8');
  const section = /^## Five minutes\n(.*?)^## /ms.exec(readme)?.[1] ?? '';
  const blocks = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const steps: Step[] = [];
  for (let index = 0; index < blocks.length; index += 2) {
    const [, shell, command = ''] = blocks[index] ?? [];
    const [, language = '', answer = ''] = blocks[index + 1] ?? [];
    assert.equal(shell, 'sh', `a command was expected, not ${command}`);
    steps.push({ command, language, answer });
  }
  return steps;
}

async function runShell(script: string): Promise<string> {
  const latchkey = `latchkey() { "${process.execPath}" "${main}" "$@"; }\nnpx() { "$@"; }\ncurl() { command curl -sS "$@"; }\n`;
  const { stdout } = await run('sh', ['-euc', `${latchkey}${script}`], {
    cwd: directory,
    env: settings(),
  });
  return stdout;
}

/** The service and the command line share a database, and think that they are where the README says. */
function settings(): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    LATCHKEY_SECRET: 'a master secret for the tests alone',
    LATCHKEY_PUBLIC_URL: WRITTEN_URL,
    LATCHKEY_PORT: '0',
  };
}

async function readUrl({ stdout }: ChildProcess): Promise<string> {
  assert.ok(stdout !== null);
  for await (const line of createInterface({ input: stdout })) {
    const [, found] = /Latchkey listens on +(\S+)/.exec(line) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error('the service ended before it listened');
}
