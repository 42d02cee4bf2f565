import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const runner = fileURLToPath(new URL('./run.mjs', import.meta.url));

/** Prints its arguments, then exits with a code, or waits for a signal and prints it. */
const PROGRAM = `
const [what]: string[] = process.argv.slice(2);
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    console.log(name);
    process.exit(40);
  });
}
console.log(JSON.stringify({ pid: process.pid, args: process.argv.slice(2), cwd: process.cwd() }));
if (what === 'stay') setInterval(() => {}, 1_000);
else process.exitCode = Number(what);
`;

/** Simulates an older Node.js, which cannot replace its process (`execve`). */
const WITHOUT_EXECVE = ['--import', 'data:text/javascript,process.execve = undefined'];

let directory: string;
let program: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-run-'));
  program = join(directory, 'program.ts');
  await writeFile(program, PROGRAM);
});

after(() => rm(directory, { recursive: true, force: true }));

interface Started {
  readonly child: ChildProcess;
  /** The first output of the program. */
  readonly greeting: { pid: number; args: string[]; cwd: string };
  /** The rest of its output, complete after its end. */
  readonly rest: Promise<string>;
}

async function start(
  flags: readonly string[],
  args: readonly string[],
  npm = false,
): Promise<Started> {
  const env = { ...process.env, npm_lifecycle_event: npm ? 'start' : undefined };
  const child = spawn(process.execPath, [...flags, runner, program, ...args], {
    cwd: directory,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [first]: unknown[] = await once(child.stdout, 'data');
  return { child, greeting: JSON.parse(String(first)), rest: text(child.stdout) };
}

async function endOf(child: ChildProcess): Promise<unknown[]> {
  return child.exitCode === null && child.signalCode === null
    ? once(child, 'exit')
    : [child.exitCode, child.signalCode];
}

for (const [how, flags] of [
  ['becoming Node 24', []],
  ['waiting for Node 24', WITHOUT_EXECVE],
] as const) {
  describe(how, () => {
    test('passes on arguments, directory and exit code', async () => {
      const { child, greeting } = await start(flags, ['7', 'two words', '--flag']);
      assert.deepEqual(greeting.args, ['7', 'two words', '--flag']);
      assert.equal(greeting.cwd, directory);
      assert.deepEqual(await endOf(child), [7, null]);
    });

    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      test(`passes ${signal} on once, and returns the exit code`, async () => {
        const { child, rest } = await start(flags, ['stay']);
        child.kill(signal);
        assert.deepEqual(await endOf(child), [40, null]);
        assert.equal(await rest, `${signal}\n`);
      });
    }
  });
}

test('returns 128 plus the number of the signal that ended the program', async () => {
  const { child, greeting } = await start(WITHOUT_EXECVE, ['stay']);
  process.kill(greeting.pid, 'SIGKILL');
  assert.deepEqual(await endOf(child), [137, null]);
});

test('ends the program when the wrapper is killed', async () => {
  const { child, greeting, rest } = await start(WITHOUT_EXECVE, ['stay']);
  assert.notEqual(greeting.pid, child.pid);
  child.kill('SIGKILL');
  assert.equal(await rest, 'SIGTERM\n');
});

test('ends the program when npm is killed, with a shell in between', async () => {
  // Like npm: a process that starts a shell, which stays.
  const script = `'${process.execPath}' '${runner}' '${program}' stay; exit`;
  const npm = spawn(process.execPath, ['-e', NPM, script], {
    env: { ...process.env, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(npm.stdout, 'data');
  const rest = text(npm.stdout);
  npm.kill('SIGKILL');
  assert.equal(await rest, 'SIGTERM\n');
});

const NPM = `require('node:child_process').spawn('sh', ['-c', process.argv[1]], { stdio: 'inherit' })`;

test('prints its usage without a file, and exits with 2', async () => {
  const child = spawn(process.execPath, [runner], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [said, end] = await Promise.all([text(child.stderr), endOf(child)]);
  assert.deepEqual(end, [2, null]);
  assert.match(said, /^Usage: /);
});
