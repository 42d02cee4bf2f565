import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { createTestDatabase } from '../../server/test/database.ts';
import { inheritedVariables } from '../../server/test/inherited-variables.ts';
import { Examples } from './examples.ts';
import { repository } from './steps.ts';

const run = promisify(execFile);
const main = join(repository, 'server', 'src', 'main.ts');

/** The address of the service in the documents. */
export const WRITTEN_URL = 'http://127.0.0.1:8080';

/** A command of a document, and its documented output. */
export interface DocumentedStep {
  readonly command: string;
  /** The language of the answer: `json`, or `text`. */
  readonly language: string;
  readonly answer: string;
}

/** A service in a separate process, with the command line of a reader. */
export interface DocumentedService extends AsyncDisposable {
  readonly url: string;
  /** Runs a shell script of a document in the reader's directory, and returns its output. */
  runShell(script: string): Promise<string>;
}

/** Whether this machine has the programs of the documents' scripts. */
export function hasPrograms(...names: readonly string[]): boolean {
  return names.every((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0);
}

/**
 * Starts a service on a new database.
 * @param settings added to those that every service needs
 */
export async function startDocumentedService(
  settings: Readonly<Record<string, string>> = {},
): Promise<DocumentedService> {
  await using resources = new AsyncDisposableStack();
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-documents-'));
  resources.defer(() => rm(directory, { recursive: true }));
  // The service and the command line share a database, and use the URL of the documents.
  const env = {
    ...inheritedVariables(),
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

/** Returns the commands of a part of a document, each with the answer in the next block. */
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
 * Runs steps in their order, with the variables of one shell.
 * @throws AssertionError when an output differs from the documented one
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
