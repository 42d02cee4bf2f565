import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { createTestDatabase } from '../../server/test/database.ts';
import { Examples } from './examples.ts';
import { repository } from './steps.ts';

const run = promisify(execFile);
const main = join(repository, 'server', 'src', 'main.ts');

/** Where the documents say that the service is. */
export const WRITTEN_URL = 'http://127.0.0.1:8080';

/** A command of a document, and what it says comes out. */
export interface DocumentedStep {
  readonly command: string;
  /** Of the answer: `json`, or `text` as it stands. */
  readonly language: string;
  readonly answer: string;
}

/** A service as a reader of the documents has it: in a process of its own, with a command line beside it. */
export interface DocumentedService extends AsyncDisposable {
  readonly url: string;
  /** Runs a shell script of a document in the reader's directory, and gives what it prints. */
  runShell(script: string): Promise<string>;
}

/** Whether this machine has the programs that the documents' scripts use. */
export function hasPrograms(...names: readonly string[]): boolean {
  return names.every((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0);
}

/**
 * Starts a service on a database of its own.
 * @param settings beside those that every service needs
 */
export async function startDocumentedService(
  settings: Readonly<Record<string, string>> = {},
): Promise<DocumentedService> {
  await using resources = new AsyncDisposableStack();
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-documents-'));
  resources.defer(() => rm(directory, { recursive: true }));
  // The service and the command line share a database, and think that they are where the documents say.
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    LATCHKEY_SECRET: 'a master secret for the tests alone',
    LATCHKEY_PUBLIC_URL: WRITTEN_URL,
    LATCHKEY_PORT: '0',
    ...settings,
  };
  const service = spawn(process.execPath, [main, 'serve'], {
    cwd: directory,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  resources.defer(() => stop(service));
  const url = await readUrl(service);
  const kept = resources.move();
  return {
    url,
    async runShell(script) {
      const latchkey = `latchkey() { "${process.execPath}" "${main}" "$@"; }\nnpx() { "$@"; }\ncurl() { command curl -sS "$@"; }\n`;
      const { stdout } = await run('sh', ['-euc', `${latchkey}${script}`], { cwd: directory, env });
      return stdout;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function stop(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null) return;
  const exited = once(service, 'exit');
  service.kill('SIGTERM');
  await exited;
}

async function readUrl({ stdout }: ChildProcess): Promise<string> {
  assert.ok(stdout !== null);
  for await (const line of createInterface({ input: stdout })) {
    const [, found] = /"Latchkey listens on (\S+)"/.exec(line) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error('the service ended before it listened');
}

/** The blocks of a part of a document: each command with the answer that follows it. */
export function readSteps(text: string): DocumentedStep[] {
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const steps: DocumentedStep[] = [];
  for (let index = 0; index < blocks.length; index += 2) {
    const [, shell, command = ''] = blocks[index] ?? [];
    const [, language = '', answer = ''] = blocks[index + 1] ?? [];
    assert.equal(shell, 'sh', `a command was expected, not ${command}`);
    steps.push({ command, language, answer });
  }
  return steps;
}

/**
 * Runs steps in their order as a reader would, who keeps the variables of one shell.
 * @throws AssertionError when what comes out is not what stands there
 */
export async function followSteps(
  service: DocumentedService,
  steps: readonly DocumentedStep[],
): Promise<void> {
  const examples = new Examples();
  let variables = '';
  for (const { command, language, answer } of steps) {
    const script = examples.replaceIn(command).replaceAll(WRITTEN_URL, service.url);
    const shown = await service.runShell(`${variables}${script}`);
    variables += script.match(/^[A-Z]+=.*\n/gm)?.join('') ?? '';
    if (language === 'json') examples.matchJson(JSON.parse(answer), JSON.parse(shown), command);
    else examples.matchText(answer, shown, command);
  }
}
